import { type ModelProvider, NotConfigured } from "#shared/model-provider/model-provider.ts";
import { type ModelRequest, parsedJson } from "./dialect.ts";
import { type Call, describeCall, type Outcome, type PaymentPorts, settleCall } from "./payment.ts";
import { isStream, withReadErrors } from "./provider-response.ts";
import { relay } from "./relay.ts";
import { failure, responseHeaders } from "./responses.ts";
import { callProvider, GivenUp, isUnsent, TimedOut, Unreached } from "./upstream.ts";

/** Milliseconds after which a call is aborted: less than the time limit of the gateway function. */
const CALL_MS = 14 * 60_000;

/** Milliseconds. */
export interface ExchangeTimes {
  readonly firstByteMs?: number;
  readonly silenceMs?: number;
}

interface ExchangeOptions {
  readonly provider: ModelProvider;
  /** The request as the caller sent it, which decides the parts of a stream that the caller gets. */
  readonly original: ModelRequest;
  /** Aborted when no caller waits for the response. */
  readonly givenUp: AbortSignal;
}

interface ExchangePorts extends PaymentPorts {
  readonly times?: ExchangeTimes;
}

interface Exchange {
  readonly response: Promise<Response>;
  /** Resolves when the provider's response is read to its end and settled, even if no caller waits for it. */
  readonly settled: Promise<void>;
}

/** Sends the call to its provider and reads the response to its end, since the provider bills all of it. */
export function exchange(call: Call, options: ExchangeOptions, ports: ExchangePorts): Exchange {
  const work = carryOut(call, options, ports);
  const settled = work.then(
    ({ streamed }) => streamed,
    () => undefined,
  );
  return { response: work.then(({ response }) => response), settled };
}

interface ExchangeOutcome {
  readonly response: Response;
  /** Resolves when a streamed response is settled. */
  readonly streamed?: Promise<void>;
}

async function carryOut(call: Call, options: ExchangeOptions, ports: ExchangePorts): Promise<ExchangeOutcome> {
  const { dialect } = call;
  const settle = (outcome: Outcome) => settleCall(call, outcome, ports);
  let given: Response;
  try {
    given = await send(call, options, ports);
  } catch (error) {
    await settle(
      isUnsent(error) || call.reservation === undefined ? { kind: "free" } : { kind: "unknown", outputBytes: 0 },
    );
    throw explain(error, call);
  }
  if (!given.ok) {
    await settle({ kind: "free" });
    ports.log("warn", "a model's provider refused", { ...describeCall(call), status: given.status });
    return { response: given };
  }
  if (given.body === null || !isStream(given, call.request.stream === true)) {
    return { response: await readWhole(call, given, settle) };
  }
  const meter = dialect.meter(options.original);
  const { stream, settled } = relay(given.body, {
    dialect,
    provider: call.model.of,
    meter,
    givenUp: options.givenUp,
    settle: () => {
      const usage = meter.usage();
      return settle(
        meter.complete() && usage !== undefined
          ? { kind: "billed", usage }
          : { kind: "unknown", usage, outputBytes: meter.bytes() },
      );
    },
    silenceMs: ports.times?.silenceMs,
  });
  return {
    response: new Response(stream, { status: given.status, headers: responseHeaders(given) }),
    streamed: settled,
  };
}

/** Names the provider in an error of the network. */
function explain(error: unknown, { model }: Call): unknown {
  const isKnown = [NotConfigured, TimedOut, GivenUp].some((known) => error instanceof known);
  return isKnown ? error : new Unreached(model.of, error);
}

function send(
  { dialect, request, model, headers, reservation }: Call,
  { provider, givenUp }: ExchangeOptions,
  { sleep, times }: ExchangePorts,
): Promise<Response> {
  const sent = { ...dialect.prepared(request), model: model.name };
  return callProvider(
    withReadErrors(provider, model.of, dialect),
    { dialect, request: sent, headers, signal: AbortSignal.timeout(CALL_MS) },
    { sleep, firstByteMs: times?.firstByteMs, givenUp, isBudgeted: reservation !== undefined },
  );
}

async function readWhole(call: Call, given: Response, settle: (outcome: Outcome) => Promise<void>): Promise<Response> {
  const text = await given.text().catch(() => "");
  const json = parsedJson(text);
  const usage = call.dialect.readUsage(json);
  await settle(
    usage === undefined ? { kind: "unknown", outputBytes: Buffer.byteLength(text) } : { kind: "billed", usage },
  );
  if (json === undefined) return failure(call.dialect, 502, "the model's provider returned invalid JSON");
  return new Response(text, { status: given.status, headers: responseHeaders(given) });
}
