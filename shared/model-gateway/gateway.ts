import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { decodeUtf8 } from "#shared/http/utf8.ts";
import type { ModelLimits } from "#shared/model-provider/model-limits.ts";
import { findLimits } from "#shared/models/find-limits.ts";
import { resolveModel } from "#shared/models/models.ts";
import { findProvider } from "#shared/models/providers.ts";
import type { PrincipalStore } from "#shared/principals/principal-store.ts";
import { type ExecutingHead, isExecutingHead, parseOwner } from "#shared/records/run-head.ts";
import { readTeam } from "#shared/records/team.ts";
import { staleExecutionError } from "#shared/runs/change-run.ts";
import { CONTEXT_TOKENS_HEADER, REMAINING_HEADER } from "#shared/wire/protocol.ts";
import { droppedHeader } from "./budgeted-request.ts";
import { type Dialect, ModelRequest, parsedJson } from "./dialect.ts";
import { type AdmittedCall, type ExchangeTimes, exchange } from "./exchange.ts";
import { keepAlive } from "./keep-alive.ts";
import { cacheValues, type KeyPorts, readOwnKey } from "./keys/own-key.ts";
import { messages } from "./messages-dialect.ts";
import { chat, responses } from "./openai-dialects.ts";
import { describeCall, type PaymentPorts, payFor } from "./payment.ts";
import { changedOptions, pinPrice } from "./price-options.ts";
import type { ModelProviders } from "./provider.ts";
import { describeForLog } from "./provider-error.ts";
import { failure, toFailure } from "./responses.ts";

const DIALECTS: readonly Dialect[] = [messages, chat, responses];

/** Bytes of a request to a model: what an AWS function accepts, without the envelope. */
const MODEL_REQUEST_BYTES = 5 * 1024 * 1024;
/** Milliseconds between checks that the execution is still the current one of its run. */
const WATCH_MS = 15_000;

/** Keeps the process running until the promise is settled, even after the response has ended. */
type WaitUntil = (work: Promise<unknown>) => void;

/** Counts bytes of the request's body, which are in memory until the work has ended. Returns false if there is no room for them. */
type Receive = (bytes: number) => boolean;

export interface GatewayPorts extends PaymentPorts {
  readonly principals: Pick<PrincipalStore, "authenticate">;
  readonly providers: ModelProviders;
  readonly vault: KeyPorts["vault"];
  /** Times in milliseconds that replace the gateway's own, for tests. */
  readonly times?: ExchangeTimes & { readonly watchMs?: number; readonly keepAliveMs?: number };
}

/**
 * Creates the model gateway, by which an execution calls models with its run's key as the API key. It implements Anthropic's Messages
 * API and OpenAI's Chat Completions and Responses APIs, streamed or not, each with its own errors, under any base URL.
 */
export function modelGateway({
  vault,
  ...others
}: GatewayPorts): (request: Request, waitUntil?: WaitUntil, receive?: Receive) => Promise<Response> {
  const ports = { ...others, vault: cacheValues(vault, others.now) };
  return async (request, waitUntil = () => undefined, receive = () => true) => {
    const { pathname } = new URL(request.url);
    const dialect = DIALECTS.find(({ path }) => pathname.endsWith(path));
    if (dialect === undefined) {
      const paths = DIALECTS.map(({ path }) => path).join(", ");
      return failure(
        pathname.includes("/anthropic/") ? messages : chat,
        404,
        `the model gateway is available at ${paths}`,
      );
    }
    if (request.method !== "POST") {
      const refusal = failure(dialect, 405, "send a POST");
      refusal.headers.set("allow", "POST");
      return refusal;
    }
    try {
      const call = await admit(request, dialect, ports, receive);
      return await respond(call, request.signal, ports, waitUntil);
    } catch (error) {
      if (!(error instanceof RunyardError))
        ports.log("error", "a model could not be called", { error: describeForLog(error) });
      return toFailure(dialect, error);
    }
  };
}

/** Authenticates and understands a request, and reserves what it may cost. @throws RunyardError if the run may not make the call */
async function admit(request: Request, dialect: Dialect, ports: GatewayPorts, receive: Receive): Promise<AdmittedCall> {
  const head = await authenticateCaller(request, ports);
  const original = await parseRequest(request, receive);
  const model = resolveModel(original.model, dialect.providers);
  const provider = ports.providers[model.providerName];
  if (provider === undefined) throw new RunyardError("internal_error");
  const { isCustom = false } = findProvider(model.id) ?? {};
  const pinned = pinPrice(original, model.providerKind, isCustom);
  const owner = parseOwner(head);
  const team = owner.type === "Team" ? await readTeam(owner.uid, ports.table) : undefined;
  const ownKey = await readOwnKey(head, model, team, ports);
  const call: AdmittedCall = {
    dialect,
    head,
    model,
    provider,
    limits: findLimits(model.id),
    team,
    ownKey,
    headers: passedHeaders(request, dialect),
    original,
    request: pinned,
    dropped: changedOptions(original, pinned),
    startedAt: ports.now(),
  };
  return payFor(call, ports);
}

/**
 * Exchanges the call with its provider while its execution is the current one of its run.
 * @param gone aborted when the caller has disconnected
 */
async function respond(
  call: AdmittedCall,
  gone: AbortSignal,
  ports: GatewayPorts,
  waitUntil: WaitUntil,
): Promise<Response> {
  const { dialect, provider, model } = call;
  const watch = watchExecution(call.head, ports);
  gone.addEventListener("abort", watch.giveUp);
  if (gone.aborted) watch.giveUp();
  const { response, settled } = exchange(call, watch.signal, ports);
  const ended = settled
    .catch((error) =>
      ports.log("error", "a call of a model could not be settled", {
        ...describeCall(call),
        error: describeForLog(error),
      }),
    )
    .finally(watch.end);
  waitUntil(ended);
  const first = Promise.race([response, watch.over]);
  const isSlow = provider.timeouts !== undefined && call.original.stream === true;
  const callerResponse = await (isSlow
    ? keepAlive(first, { dialect, giveUp: watch.giveUp, everyMs: ports.times?.keepAliveMs })
    : first);
  const headers = {
    ...(call.left === undefined ? {} : { [REMAINING_HEADER]: call.left }),
    ...droppedHeader(call.dropped),
    ...windowHeader({ ...provider.limits?.(model.name), ...call.limits }),
  };
  for (const [name, value] of Object.entries(headers)) callerResponse.headers.set(name, value);
  return callerResponse;
}

/** Tells the agent the context window of the model, if it is known, so that it compacts its conversation in time. */
const windowHeader = ({ contextTokens }: ModelLimits): Record<string, string> =>
  contextTokens === undefined ? {} : { [CONTEXT_TOKENS_HEADER]: String(contextTokens) };

function passedHeaders(request: Request, { passes }: Dialect): Record<string, string> {
  return Object.fromEntries(
    passes.flatMap((name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** Authenticates the call of an active execution. */
async function authenticateCaller(request: Request, ports: GatewayPorts): Promise<ExecutingHead> {
  const header = (name: string) => request.headers.get(name) ?? undefined;
  const key = header("x-api-key");
  const authorization = key === undefined ? header("authorization") : `Bearer ${key}`;
  const principal = await ports.principals.authenticate(authorization, undefined);
  const head = await authorizeExecution(principal, header, ports);
  if (head.state !== "INPROGRESS") {
    throw new RunyardError("not_authorized", { detail: "the execution has not begun: call resolve-prompt first" });
  }
  const { failing } = head;
  if (failing !== undefined) throw new RunyardError(failing.code, { detail: failing.message });
  return head;
}

async function parseRequest(request: Request, receive: Receive): Promise<ModelRequest> {
  const parsed = v.safeParse(ModelRequest, parsedJson(decodeUtf8(await readBody(request, receive))));
  if (parsed.success) return parsed.output;
  throw new RunyardError("invalid_request", { detail: "the body must be a JSON object that names a model" });
}

/** Reads the body up to the maximum size, since a body without a length may never end. */
async function readBody(request: Request, receive: Receive): Promise<Uint8Array> {
  const tooLarge = new RunyardError("invalid_request", {
    status: 413,
    detail: `a request to a model has at most ${MODEL_REQUEST_BYTES} bytes`,
  });
  if (Number(request.headers.get("content-length") ?? 0) > MODEL_REQUEST_BYTES) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  // The error cancels the body.
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MODEL_REQUEST_BYTES) throw tooLarge;
    if (!receive(chunk.byteLength)) throw noRoom();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const noRoom = () =>
  new RunyardError("resource_unavailable", {
    retryAfterSeconds: 2,
    detail: "other requests to models take all memory",
  });

/** Aborts the call when the run has another execution: the caller gets an error at once, and an unsent call is not made. */
function watchExecution({ run_id, execution_id }: ExecutingHead, ports: GatewayPorts) {
  const aborter = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const check = async () => {
    const head = await ports.runs.head(run_id);
    const works = head !== undefined && isExecutingHead(head) && head.execution_id === execution_id;
    if (works) return;
    aborter.abort();
    reject(staleExecutionError());
  };
  // A failed check is ignored, since the next one follows soon.
  const timer = setInterval(() => void check().catch(() => undefined), ports.times?.watchMs ?? WATCH_MS);
  return {
    signal: aborter.signal,
    over,
    giveUp: () => aborter.abort(),
    end: () => clearInterval(timer),
  };
}
