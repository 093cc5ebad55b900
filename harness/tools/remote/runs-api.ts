import * as v from "valibot";
import type { Envelope } from "#shared/wire/harness.ts";
import { RunItem } from "#shared/wire/run.ts";
import { type RunAgentRequest, RunAgentResponse } from "#shared/wire/runs/new-run.ts";
import { getJson, type HttpResponse, postJson, toRetryHints, withRetries } from "../../control-plane/http.ts";
import { formatError } from "../../support/stop.ts";

/** The runs that this run's key gives access to: its descendants. Each call throws a refusal as an Error for the model. */
export interface RunsApi {
  /** @param idempotencyKey a request that is repeated with the same key creates no second run */
  create(request: RunAgentRequest, once: string): Promise<string>;
  read(runId: string): Promise<RunItem>;
  /** Returns the agent's final message. */
  readFinalMessage(runId: string): Promise<string>;
  followUp(runId: string, message: string, once: string): Promise<void>;
}

const LIMITS = { giveUpAfterMs: 90_000, attemptMs: 20_000 };
const Problem = v.object({ detail: v.optional(v.string()), title: v.optional(v.string()) });

export function createRunsApi({ base_url, key }: Envelope, signal: AbortSignal): RunsApi {
  const call = async <S extends v.GenericSchema>(path: string, reply: S, post?: { body: unknown; once: string }) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(post === undefined ? {} : { "idempotency-key": post.once }),
    };
    const url = `${base_url}/agent/runs${path}`;
    const attempt = (ended: AbortSignal) =>
      post === undefined ? getJson(url, headers, ended) : postJson(url, headers, JSON.stringify(post.body), ended);
    const response = await withRetries("the service", attempt, toRetryHints, { ...LIMITS, signal }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        // A failed call must not stop this execution, whose own calls are retried for longer.
        throw new Error(formatError(error));
      },
    );
    if (response.status !== 200) throw new Error(describeRefusal(response));
    return v.parse(reply, JSON.parse(response.text));
  };
  const toPath = (runId: string) => `/${encodeURIComponent(runId)}`;
  return {
    create: async (body, once) => (await call("", RunAgentResponse, { body, once })).run_id,
    read: (runId) => call(toPath(runId), RunItem),
    readFinalMessage: async (runId) => (await call(`${toPath(runId)}/response`, v.object({ text: v.string() }))).text,
    async followUp(runId, message, once) {
      await call(`${toPath(runId)}/followups`, v.object({}), { body: { message }, once });
    },
  };
}

function describeRefusal({ status, text }: HttpResponse): string {
  try {
    const { detail, title } = v.parse(Problem, JSON.parse(text));
    return detail ?? title ?? `status ${status}`;
  } catch {
    return `status ${status}`;
  }
}
