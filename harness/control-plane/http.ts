import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Stop } from "../support/stop.ts";

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface RetryLimits {
  /** How long one call may be repeated, in milliseconds. */
  readonly giveUpAfterMs: number;
  /** How long one attempt may take, in milliseconds. */
  readonly attemptMs: number;
  /** Ends waiting and retrying immediately. */
  readonly signal?: AbortSignal;
}

/** Delays between attempts double, from the first to the longest. */
const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 8_000;
/** Added at random to the delay that the server requests. */
const JITTER_MS = 250;

/** The result of one attempt: a response, or the reason why there is none. */
type Attempt<T> = { response: T } | { failure: unknown };

/**
 * Retries a call that may succeed later (no response, 408, 429, 5xx, or a response marked as retryable) with full jitter, or after the
 * delay that the server requests. @throws Stop "unreachable" when the time is up
 */
export async function withRetries<T>(
  name: string,
  attempt: (signal: AbortSignal) => Promise<T>,
  read: (response: T) => { status: number; header(name: string): string | undefined },
  { giveUpAfterMs, attemptMs, signal }: RetryLimits,
): Promise<T> {
  const giveUpAt = Date.now() + giveUpAfterMs;
  for (let count = 0; ; count++) {
    signal?.throwIfAborted();
    const timeLimit = AbortSignal.timeout(attemptMs);
    const result: Attempt<T> = await attempt(
      signal === undefined ? timeLimit : AbortSignal.any([signal, timeLimit]),
    ).then(
      (response) => ({ response }),
      (failure: unknown) => ({ failure }),
    );
    const reply = "response" in result ? read(result.response) : undefined;
    if ("response" in result && reply !== undefined && !isRetryable(reply.status, reply.header("x-should-retry")))
      return result.response;
    signal?.throwIfAborted();
    const delayMs =
      readServerDelayMs(reply?.header("retry-after")) ??
      Math.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** count);
    if (Date.now() + delayMs > giveUpAt)
      throw new Stop("unreachable", `${name} could not be called: ${describeFailure(result, reply)}`);
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
  }
}

/** Extracts what `withRetries` needs from a response of `postJson` or `getJson`. */
export const toRetryHints = ({ status, headers }: HttpResponse) => ({
  status,
  header: (name: string) => headers[name]?.toString(),
});

/**
 * Sends JSON by POST. Uses node:http instead of fetch, whose first use would delay the first command by 25 ms; fetch is used for
 * large bodies.
 */
export function postJson(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const ofBody = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return send(url, { method: "POST", headers: { ...headers, ...ofBody }, signal }, body);
}

/** Sends a GET request with the same client. */
export const getJson = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<HttpResponse> => send(url, { method: "GET", headers: { ...headers }, signal });

async function send(url: string, options: RequestOptions, body?: string): Promise<HttpResponse> {
  const { protocol } = new URL(url);
  // Importing node:http as an ES module reads all of its members, among them WebSocket, which loads undici: 30 ms of CPU.
  const { request } = process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
  const call = request(url, options, (response) => readResponse(response).then(resolve, reject));
  call.on("error", reject);
  call.end(body);
  return await promise;
}

async function readResponse(response: IncomingMessage): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

function isRetryable(status: number, advice: string | undefined): boolean {
  if (status < 400 || status === 401) return false;
  if (advice !== undefined) return advice === "true";
  return status === 408 || status === 429 || status >= 500;
}

function readServerDelayMs(retryAfter: string | undefined): number | undefined {
  const seconds = Number.parseFloat(retryAfter ?? "");
  // Jitter, so that executions that were throttled together do not retry together.
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 + Math.random() * JITTER_MS : undefined;
}

function describeFailure(result: Attempt<unknown>, reply: { status: number } | undefined): string {
  if (reply !== undefined) return `status ${reply.status}`;
  const failure = "failure" in result ? result.failure : undefined;
  if (!(failure instanceof Error)) return "no response";
  return failure.cause instanceof Error ? failure.cause.message : failure.message;
}
