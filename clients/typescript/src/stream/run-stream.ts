import { APIConnectionError, APIError, APITimeoutError, APIUserAbortError, RunyardError } from "../errors.ts";
import type { LiveFrame, RunEvent, RunEvents } from "../generated/types.ts";
import { waitBeforeRepeat } from "../retry.ts";
import { LONGEST_TIMER } from "../transport.ts";
import { createEventParser } from "./event-parser.ts";
import { createFrameFilter } from "./frame-filter.ts";

/** An event of a run, or a piece of the output that it is producing. */
export type RunStreamItem =
  | { readonly kind: "event"; readonly event: RunEvent }
  /** The event with the whole output replaces the pieces: it has the same `action_id` or `message_id`. */
  | { readonly kind: "live"; readonly frame: LiveFrame };

/** How a stream reads a run. */
export interface StreamSource {
  /**
   * Requests the events after a number, as a stream if the server can, and the live output after a position. Sends one
   * request, without retries.
   */
  request(after: number, liveAfter: string | undefined, signal: AbortSignal): Promise<Response>;
  sleep(ms: number): Promise<void>;
  /** Milliseconds for a request, including its response unless that is a stream. */
  readonly timeout: number;
  /** The number of retries in a row. A complete response, or anything new, starts a new row. */
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
  /** Called with the run's position in the queue for capacity when it changes. */
  readonly onWaiting: ((position: number) => void) | undefined;
}

/** The server sends something every 15 seconds; without it for this long, the connection is lost. */
const SILENCE_MS = 45_000;
const DEFAULT_RETRY_MS = 1_000;

/** What a response contains. */
type Part =
  | RunStreamItem
  | { readonly kind: "end" }
  /** The position in the queue for capacity. */
  | { readonly kind: "waiting"; readonly position: number }
  /** Where to continue in the live output. */
  | { readonly kind: "position"; readonly liveAfter: string }
  | { readonly kind: "retry"; readonly ms: number };

/** Iterates over the events after `after`, each once and in order, over any number of connections. */
export async function* streamRun(after: number, source: StreamSource): AsyncGenerator<RunStreamItem, void> {
  const reader = createReader(after);
  let position: number | undefined;
  for (let failures = 0; ; ) {
    const began = Date.now();
    let isNew = false;
    let wait = DEFAULT_RETRY_MS;
    try {
      for await (const part of readConnection(reader.last(), reader.liveAfter(), source)) {
        if (part.kind === "end") return;
        if (part.kind === "retry") wait = part.ms;
        if (part.kind === "waiting" && part.position !== position) {
          position = part.position;
          source.onWaiting?.(position);
        }
        const item = reader.take(part);
        // An event is missing; it comes with the next connection.
        if (item === "gap") break;
        if (item === undefined) continue;
        isNew = true;
        failures = 0;
        yield item;
      }
    } catch (error) {
      const ms = error instanceof APIError ? waitBeforeRepeat(error, failures) : undefined;
      if (ms === undefined || failures >= source.maxRetries) throw error;
      failures++;
      await source.sleep(ms);
      continue;
    }
    failures = 0;
    // A response that is empty and did not wait would otherwise cause requests without pauses.
    if (!isNew) await source.sleep(Math.max(0, wait - (Date.now() - began)));
  }
}

/** Keeps track of what has been passed on. */
function createReader(after: number) {
  const frames = createFrameFilter();
  let last = after;
  let liveAfter: string | undefined;
  return {
    last: () => last,
    liveAfter: () => liveAfter,
    /** Returns what is new in a part, or "gap" if an event before it is missing. */
    take(part: Part): RunStreamItem | "gap" | undefined {
      if (part.kind === "position") liveAfter = part.liveAfter;
      if (part.kind === "live") {
        const frame = frames.take(part.frame);
        return frame === undefined ? undefined : { kind: "live", frame };
      }
      if (part.kind !== "event" || part.event.sequence <= last) return undefined;
      if (part.event.sequence > last + 1) return "gap";
      last = part.event.sequence;
      frames.note(part.event);
      return part;
    },
  };
}

/** Sends one request and reads its response. @throws APIError */
async function* readConnection(
  after: number,
  liveAfter: string | undefined,
  { request, signal, timeout }: StreamSource,
): AsyncGenerator<Part, void> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  try {
    const began = Date.now();
    const response = await request(after, liveAfter, controller.signal);
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) yield* readStream(response, controller);
    else yield* readPage(JSON.parse(await within(timeout - (Date.now() - began), response.text(), controller)));
  } catch (error) {
    if (signal?.aborted) throw new APIUserAbortError("The call was aborted.", { cause: signal.reason });
    if (error instanceof RunyardError) throw error;
    throw new APIConnectionError(`The connection failed: ${String(error)}`, { cause: error });
  } finally {
    signal?.removeEventListener("abort", abort);
    // Closes the connection if not all of the response was read.
    controller.abort();
  }
}

function* readPage({ events, ended, live = [], live_next, waiting }: RunEvents): Generator<Part, void> {
  for (const event of events) yield { kind: "event", event };
  for (const frame of live) yield { kind: "live", frame };
  if (waiting !== undefined) yield { kind: "waiting", position: waiting.position };
  if (live_next !== undefined) yield { kind: "position", liveAfter: live_next };
  if (ended) yield { kind: "end" };
}

async function* readStream({ body }: Response, connection: AbortController): AsyncGenerator<Part, void> {
  if (body === null) return;
  const parser = createEventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  while (true) {
    const { done, value } = await within(SILENCE_MS, reader.read(), connection);
    if (done) break;
    for (const { name, data } of parser.push(decoder.decode(value, { stream: true }))) {
      if (name === "message") yield { kind: "event", event: JSON.parse(data) };
      if (name === "live") yield { kind: "live", frame: JSON.parse(data) };
      if (name === "waiting") yield { kind: "waiting", position: JSON.parse(data).position };
      if (name === "end") yield { kind: "end" };
    }
  }
  const ms = parser.retry();
  if (ms !== undefined) yield { kind: "retry", ms };
}

/** Waits for a part of a response, and aborts the connection if it does not arrive in time. */
function within<T>(ms: number, part: Promise<T>, connection: AbortController): Promise<T> {
  const abort = (): void => connection.abort(new APITimeoutError("The response took too long."));
  const timer = setTimeout(abort, Math.min(ms, LONGEST_TIMER));
  return part.finally(() => clearTimeout(timer));
}
