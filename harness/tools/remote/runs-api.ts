import * as v from "valibot";
import type { Envelope } from "#shared/wire/harness.ts";
import { type RunAgentRequest, RunAgentResponse, RunItem } from "#shared/wire/run.ts";
import { getJson, type HttpAnswer, postJson, toRetryHints, withRetries } from "../../control-plane/http.ts";
import { messageOf } from "../../support/stop.ts";

/** The service's runs as far as this run's key opens them: its descendants. Each call throws what was refused as an Error for the model. */
export interface RunsApi {
  /** @param once a name of the request: sent again under it, it makes no second run */
  create(request: RunAgentRequest, once: string): Promise<string>;
  read(runId: string): Promise<RunItem>;
  /** The agent's last words. */
  lastWords(runId: string): Promise<string>;
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
    const answer = await withRetries("the service", attempt, toRetryHints, { ...LIMITS, signal }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        // That it cannot be reached just now is no end of this execution, which would try again for longer.
        throw new Error(messageOf(error));
      },
    );
    if (answer.status !== 200) throw new Error(describeRefusal(answer));
    return v.parse(reply, JSON.parse(answer.text));
  };
  const toPath = (runId: string) => `/${encodeURIComponent(runId)}`;
  return {
    create: async (body, once) => (await call("", RunAgentResponse, { body, once })).run_id,
    read: (runId) => call(toPath(runId), RunItem),
    lastWords: async (runId) => (await call(`${toPath(runId)}/response`, v.object({ text: v.string() }))).text,
    async followUp(runId, message, once) {
      await call(`${toPath(runId)}/followups`, v.object({}), { body: { message }, once });
    },
  };
}

function describeRefusal({ status, text }: HttpAnswer): string {
  try {
    const { detail, title } = v.parse(Problem, JSON.parse(text));
    return detail ?? title ?? `status ${status}`;
  } catch {
    return `status ${status}`;
  }
}
