import { randomInt } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { RunyardError } from "#shared/errors.ts";
import { authenticate } from "#shared/http/caller.ts";
import { type EventText, type HttpResponse, problem } from "#shared/http/problem.ts";
import { readTraceId } from "#shared/http/response.ts";
import { logLine } from "#shared/log/log.ts";
import { chooseEncoding, compress, compressStream, isCompressible } from "../host/http/compress.ts";
import { type LocalProblem, sendProblem } from "../host/http/problem-response.ts";
import { tooSlow } from "../host/http/request-checks.ts";
import type { ServerPorts } from "../ports.ts";
import { type ApiRequest, toApiEvent } from "./api-event.ts";
import { connectedSignals } from "./connected-signals.ts";
import type { Endpoint } from "./endpoints.ts";
import {
  type Admissible,
  type Admission,
  countRefusals,
  identifyCaller,
  LoadShedder,
  watchEventLoop,
} from "./load-shedder.ts";

/** Bytes of a request that API Gateway accepts, and of a response that a Lambda function can return. */
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 6_291_556;
/** Milliseconds in which the body of a request has to arrive. */
export const BODY_MS = 60_000;
/** Bytes of a body that are received before the credential of its caller is checked. */
const UNCHECKED_BYTES = 64 * 1024;
/** Requests that may wait for something to happen at the same time, and streams that may be open. */
const MAX_LONG_POLLS = 512;
const MAX_STREAMS = 512;
const EVENT_STREAM = "text/event-stream";
/** A client that has stopped reading is disconnected at the latest this long after its stream began. */
const MAX_STREAM_MS = 16 * 60_000;

/** Callers get different times, so that they do not all retry at once. */
const MAX_RETRY_SECONDS = 3;
const overloaded = (): LocalProblem => ({
  status: 503,
  code: "resource_unavailable",
  retryAfterSeconds: randomInt(1, MAX_RETRY_SECONDS + 1),
});
/** The route of events for triggers, which need no API key. */
const EVENTS = "/hooks/{triggerUid}";
/** The routes that only executions call. */
const OF_EXECUTIONS = /\/(harness-support|client-events)(\/|$)/;
const FAILED = { status: 500, code: "internal_error", retryAfterSeconds: 1 } as const;

interface Exchange extends Omit<ApiRequest, "body"> {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/**
 * Creates the function that hands requests to endpoints as events of API Gateway, and writes their responses.
 * @param bodyMs milliseconds in which the body of a request has to arrive
 */
export function endpointServer(bodyMs = BODY_MS) {
  const shedder = new LoadShedder(watchEventLoop());
  const countRefusal = countRefusals();
  let longPolls = 0;
  let streams = 0;
  return async (exchange: Exchange, endpoint: Endpoint, ports: ServerPorts): Promise<void> => {
    const { incoming, outgoing } = exchange;
    const refuse = (problem: LocalProblem) => sendProblem(incoming, outgoing, problem, ports.baseUrl);
    const refuseOverload = () => {
      countRefusal();
      refuse(overloaded());
    };
    const isStream = exchange.routeKey.endsWith("/events") && incoming.headers.accept?.includes(EVENT_STREAM) === true;
    const isLongPoll = !isStream && new URLSearchParams(incoming.url?.split("?", 2)[1]).has("wait");
    const isFull = () => isLongPoll && longPolls >= MAX_LONG_POLLS;
    const admission = isFull() ? undefined : shedder.admit(toAdmissible(exchange, isLongPoll || isStream));
    if (admission === undefined) return refuseOverload();
    let isHeld = false;
    try {
      const body = await readInTime(incoming, admission, () => checkCaller(exchange, ports), bodyMs);
      if (body === "too large") return refuseSize(incoming, outgoing);
      if (body === "no room") return refuseOverload();
      if (body === "too slow") {
        outgoing.setHeader("connection", "close");
        return refuse(tooSlow("the body", bodyMs));
      }
      if (!Buffer.isBuffer(body)) return await send(exchange, body, refuse);
      if (isFull() || !admission.begin()) return refuseOverload();
      isHeld = isLongPoll;
      if (isHeld) longPolls++;
      // A stream ends its own wait, and is read while its client receives it.
      const signals = isStream ? ports.signals : connectedSignals(ports.signals, outgoing);
      const response = await endpoint.handle(toApiEvent({ ...exchange, body }), { ...ports, signals });
      if (response.stream === undefined) return await send(exchange, response, refuse);
      if (streams >= MAX_STREAMS) return refuseOverload();
      streams++;
      await stream(exchange, response, response.stream).finally(() => streams--);
    } catch (error) {
      logLine("error", "a request could not be served", { route: exchange.routeKey, error });
      if (outgoing.headersSent || outgoing.destroyed) outgoing.destroy();
      else refuse(FAILED);
    } finally {
      admission.release();
      if (isHeld) longPolls--;
    }
  };
}

const toAdmissible = ({ incoming, routeKey }: Exchange, isWaiting: boolean): Admissible => ({
  caller: identifyCaller(incoming),
  isExecution: OF_EXECUTIONS.test(routeKey),
  isWaiting,
});

/** Checks the caller of a request with a large body before all of it is received. Returns the response to a caller that is refused. */
async function checkCaller(exchange: Exchange, ports: ServerPorts): Promise<HttpResponse | undefined> {
  const event = toApiEvent({ ...exchange, body: Buffer.alloc(0) });
  try {
    // An event is verified by its whole body.
    if (exchange.routeKey.endsWith(EVENTS)) return undefined;
    if (ports.who.every((kind) => kind === "public")) throw tooLargeForAnybody;
    await authenticate(event, ports, true);
    return undefined;
  } catch (error) {
    return problem(error, { baseUrl: ports.baseUrl, instance: event.rawPath, traceId: readTraceId(event) });
  }
}

const tooLargeForAnybody = new RunyardError("invalid_request", {
  status: 413,
  detail: `body: has more than ${UNCHECKED_BYTES} bytes, the limit of requests that need no API key`,
});

type CheckCaller = () => Promise<HttpResponse | undefined>;

/** Reads the body, or returns why it cannot be read. */
async function readInTime(
  incoming: IncomingMessage,
  admission: Admission,
  check: CheckCaller,
  milliseconds: number,
): Promise<Buffer | HttpResponse | "too large" | "no room" | "too slow"> {
  const { promise: late, resolve } = Promise.withResolvers<"too slow">();
  const timer = setTimeout(() => resolve("too slow"), milliseconds);
  try {
    return await Promise.race([readBody(incoming, admission, check), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function readBody(incoming: IncomingMessage, { receive }: Admission, check: CheckCaller) {
  if (Number(incoming.headers["content-length"] ?? 0) > MAX_REQUEST_BYTES) return "too large";
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isChecked = false;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MAX_REQUEST_BYTES) return "too large";
    if (!receive(chunk.length)) return "no room";
    chunks.push(chunk);
    if (bytes <= UNCHECKED_BYTES || isChecked) continue;
    isChecked = true;
    const refusal = await check();
    if (refusal !== undefined) return refusal;
  }
  return Buffer.concat(chunks);
}

function refuseSize(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  outgoing.writeHead(413, { "content-type": "application/json" }).end('{"message":"Request Entity Too Large"}');
}

/** Sends a response, compressed if the client accepts that. */
async function send(
  { incoming, outgoing, routeKey }: Exchange,
  { statusCode, headers, body }: HttpResponse,
  refuse: (problem: LocalProblem) => void,
): Promise<void> {
  // What is left of a body that was not read.
  incoming.resume();
  const bytes = Buffer.byteLength(body);
  if (bytes > MAX_RESPONSE_BYTES) {
    logLine("error", "a response is larger than a Lambda function can return", { route: routeKey, bytes });
    refuse(FAILED);
    return;
  }
  const isText = isCompressible(String(headers["content-type"]), bytes);
  const encoding = isText ? chooseEncoding(incoming.headers["accept-encoding"]) : undefined;
  const content = encoding === undefined ? Buffer.from(body) : await compress(Buffer.from(body), encoding);
  outgoing.writeHead(statusCode, {
    ...headers,
    ...(isText ? { vary: "accept-encoding" } : {}),
    ...(encoding === undefined ? {} : { "content-encoding": encoding }),
    ...(statusCode === 204 ? {} : { "content-length": content.length }),
  });
  outgoing.end(content);
}

/** Sends a stream as fast as the client reads it, compressed if the client accepts that. The client connects again after an error. */
async function stream(
  { incoming, outgoing, routeKey }: Exchange,
  response: HttpResponse,
  text: EventText,
): Promise<void> {
  const isCompressed = chooseEncoding(incoming.headers["accept-encoding"], ["gzip"]) !== undefined;
  outgoing.writeHead(response.statusCode, {
    ...response.headers,
    vary: "accept-encoding",
    ...(isCompressed ? { "content-encoding": "gzip" } : {}),
  });
  outgoing.flushHeaders();
  const source = Readable.from(text);
  const signal = AbortSignal.timeout(MAX_STREAM_MS);
  try {
    if (isCompressed) await pipeline(source, compressStream(), outgoing, { signal });
    else await pipeline(source, outgoing, { signal });
  } catch (error) {
    if (!isDisconnect(error)) logLine("warn", "a stream was ended", { route: routeKey, error });
    outgoing.destroy();
  }
}

const isDisconnect = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";
