import type { ModelLimits } from "#shared/model-provider/model-limits.ts";
import { type ModelProvider, NotConfigured } from "#shared/model-provider/model-provider.ts";
import { type ModelRequest, parsedJson } from "./dialect.ts";
import { PROVIDER_REMEDY } from "./error-kinds.ts";
import { type Call, describeCall, type Outcome, type PaymentPorts, settleCall } from "./payment.ts";
import { readErrorBody } from "./provider-error.ts";
import { createHide, isStream, readText, withReadErrors } from "./provider-response.ts";
import { relay } from "./relay.ts";
import { failure, responseHeaders } from "./responses.ts";
import { callProvider, GivenUp, isUnsent, TimedOut, Unreached } from "./upstream.ts";
import { inputTokens, isFree } from "./usage.ts";

/** Milliseconds after which a call is aborted: less than the time limit of the gateway function. */
const CALL_MS = 14 * 60_000;
/** Characters that an error quotes of a response that is not JSON. */
const MAX_WORDS = 200;

/** Milliseconds. */
export interface ExchangeTimes {
  readonly firstByteMs?: number;
  readonly silenceMs?: number;
}

/** A call that is authenticated, understood and paid for. */
export interface AdmittedCall extends Call {
  readonly provider: ModelProvider;
  /** The request as the caller sent it, which decides the parts of a stream that the caller gets. */
  readonly original: ModelRequest;
  /** The limits of the model that the deployment sets. */
  readonly limits: ModelLimits;
}

interface ExchangePorts extends PaymentPorts {
  readonly times?: ExchangeTimes;
}

interface Exchange {
  readonly response: Promise<Response>;
  /** Resolves when the provider's response is read to its end and settled, even if no caller waits for it. */
  readonly settled: Promise<void>;
}

/**
 * Sends the call to its provider. A call whose caller is gone is stopped at once, unless it has a price: only the end of its response
 * says what the provider bills, so that is read.
 * @param givenUp aborted when no caller waits for the response
 */
export function exchange(call: AdmittedCall, givenUp: AbortSignal, ports: ExchangePorts): Exchange {
  const work = carryOut(call, createStop(call, givenUp), ports);
  const settled = work.then(
    ({ streamed }) => streamed,
    () => undefined,
  );
  return { response: work.then(({ response }) => response), settled };
}

interface Stop {
  /** Aborted when no caller waits for the response. */
  readonly givenUp: AbortSignal;
  /** Ends the call at its provider. */
  readonly stopped: AbortSignal;
  /** Called when the caller of a stream has disconnected. */
  readonly hangUp: () => void;
}

function createStop({ model, provider }: AdmittedCall, givenUp: AbortSignal): Stop {
  const ended = AbortSignal.timeout(Math.min(provider.timeouts?.totalMs ?? CALL_MS, CALL_MS));
  if (model.cost !== undefined && !isFree(model)) return { givenUp, stopped: ended, hangUp: () => undefined };
  const hungUp = new AbortController();
  return { givenUp, stopped: AbortSignal.any([ended, givenUp, hungUp.signal]), hangUp: () => hungUp.abort() };
}

interface ExchangeOutcome {
  readonly response: Response;
  /** Resolves when a streamed response is settled. */
  readonly streamed?: Promise<void>;
}

async function carryOut(call: AdmittedCall, stop: Stop, ports: ExchangePorts): Promise<ExchangeOutcome> {
  const { dialect } = call;
  const settle = (outcome: Outcome) => {
    if (outcome.kind === "billed")
      call.provider.noteTokens?.(call.model.name, inputTokens(outcome.usage) + outcome.usage.output);
    return settleCall(call, outcome, ports);
  };
  let response: Response;
  try {
    response = await send(call, stop, ports);
  } catch (error) {
    await settle(
      isUnsent(error) || call.reservation === undefined ? { kind: "free" } : { kind: "unknown", outputBytes: 0 },
    );
    throw explain(error, call, stop);
  }
  if (!response.ok) {
    await settle({ kind: "free" });
    ports.log("warn", "a model's provider refused", { ...describeCall(call), status: response.status });
    return { response };
  }
  if (response.body === null || !isStream(response, call.request.stream === true)) {
    return { response: await readWhole(call, response, settle) };
  }
  const meter = dialect.meter(call.original);
  const { stream, settled } = relay(response.body, {
    dialect,
    provider: call.model.providerName,
    hide: createHide(call.provider, call.ownKey),
    meter,
    givenUp: stop.givenUp,
    hangUp: stop.hangUp,
    settle: () => {
      const usage = meter.usage();
      return settle(
        meter.complete() && usage !== undefined
          ? { kind: "billed", usage }
          : { kind: "unknown", usage, outputBytes: meter.bytes() },
      );
    },
    silenceMs: ports.times?.silenceMs ?? call.provider.timeouts?.idleMs,
  });
  return {
    response: new Response(stream, { status: response.status, headers: responseHeaders(response) }),
    streamed: settled,
  };
}

/** Names the provider in an error of the network. */
function explain(error: unknown, { model }: Call, { givenUp }: Stop): unknown {
  if (givenUp.aborted) return new GivenUp("the call was given up", { cause: error });
  if (error instanceof TimedOut) {
    const remedy = "Request a streamed response, continue the run later, or choose another model.";
    return new TimedOut(`${model.providerName} returned nothing: ${error.message}. ${remedy}`, { cause: error });
  }
  if (error instanceof NotConfigured)
    return new NotConfigured(error.message.replace("the model's provider", model.providerName), { cause: error });
  return error instanceof GivenUp ? error : new Unreached(model.providerName, error);
}

function send(
  { dialect, request, model, provider, limits, headers, reservation, ownKey }: AdmittedCall,
  { givenUp, stopped }: Stop,
  { sleep, times }: ExchangePorts,
): Promise<Response> {
  const sent = { ...dialect.prepared(request), model: model.name };
  return callProvider(
    withReadErrors(provider, { name: model.providerName, ownKey }, dialect),
    { dialect, request: sent, headers, signal: stopped, limits, key: ownKey?.value },
    {
      sleep,
      firstByteMs: times?.firstByteMs ?? provider.timeouts?.firstByteMs,
      givenUp,
      isBudgeted: reservation !== undefined,
    },
  );
}

async function readWhole(
  call: Call,
  response: Response,
  settle: (outcome: Outcome) => Promise<void>,
): Promise<Response> {
  const text = await readText(response).catch(() => "");
  const json = parsedJson(text);
  const usage = call.dialect.readUsage(json);
  await settle(
    usage === undefined ? { kind: "unknown", outputBytes: Buffer.byteLength(text) } : { kind: "billed", usage },
  );
  if (json === undefined) {
    const words = readErrorBody(text).message.slice(0, MAX_WORDS);
    const detail = `${call.model.providerName} returned ${response.status} with a response that is not JSON: ${words}.`;
    return failure(call.dialect, 502, `${detail} ${PROVIDER_REMEDY}`);
  }
  return new Response(text, { status: response.status, headers: responseHeaders(response) });
}
