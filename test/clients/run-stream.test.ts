import { afterEach, describe, expect, it, vi } from "vitest";
import {
  APIConnectionError,
  APITimeoutError,
  APIUserAbortError,
  ConflictError,
  type LiveFrame,
  NotFoundError,
  RateLimitError,
  type RunEvent,
} from "../../clients/typescript/src/index.ts";
import { createFrameFilter } from "../../clients/typescript/src/stream/frame-filter.ts";
import { type RunStreamItem, streamRun } from "../../clients/typescript/src/stream/run-stream.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const createEvent = (
  sequence: number,
  type: RunEvent["type"] = "agent_started",
  data: RunEvent["data"] = {},
): RunEvent => ({
  sequence,
  type,
  occurred_at: "2026-05-18T19:00:00.000Z",
  data,
});
const message = (...content: object[]) => ({ messages: [{ role: "assistant", content }] });
const page =
  (events: readonly RunEvent[], more = {}) =>
  () =>
    Response.json({ events, next: events.at(-1)?.sequence ?? 0, ended: false, ...more });
const stream =
  (text: string, type = "text/event-stream; charset=utf-8") =>
  () =>
    new Response(text, { headers: { "content-type": type } });
const fail = (error: Error) => () => {
  throw error;
};
const END = stream("event: end\ndata: {}\n\n");

const REQUEST_MS = 100;

/** Streams a run from responses, one for each request, which takes 100 ms. */
async function read(responses: readonly ((signal: AbortSignal) => Response)[], { after = 0, maxRetries = 3 } = {}) {
  const requests: unknown[] = [];
  const waits: number[] = [];
  const positions: number[] = [];
  const items: RunStreamItem[] = [];
  const left = [...responses];
  let now = 0;
  vi.spyOn(Date, "now").mockImplementation(() => now);
  vi.spyOn(Math, "random").mockReturnValue(1);
  const source = {
    maxRetries,
    timeout: 60_000,
    signal: undefined,
    onWaiting: (position: number) => positions.push(position),
    sleep: async (ms: number) => void waits.push(ms),
    request: async (last: number, liveAfter: string | undefined, signal: AbortSignal) => {
      requests.push([last, liveAfter]);
      now += REQUEST_MS;
      const respond = left.shift();
      if (respond === undefined) throw new Error("no request was expected");
      return respond(signal);
    },
  };
  const done = (async () => {
    for await (const item of streamRun(after, source)) items.push(item);
  })();
  const error: unknown = await done.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const sequences = items.flatMap((item) => (item.kind === "event" ? [item.event.sequence] : []));
  return { items, sequences, requests, waits, positions, error };
}

describe("streamRun", () => {
  it("continues after the last event, drops known ones, and requests again at once where one is missing", async () => {
    const first = page([createEvent(3), createEvent(4)]);
    const withGap = page([createEvent(4), createEvent(5), createEvent(7)]);
    const found = await read([first, withGap, page([createEvent(6), createEvent(7)], { ended: true })], { after: 2 });
    expect(found).toMatchObject({ sequences: [3, 4, 5, 6, 7], waits: [], error: undefined });
    expect(found.items.every(({ kind }) => kind === "event")).toBe(true);
    expect(found.requests).toEqual([
      [2, undefined],
      [4, undefined],
      [5, undefined],
    ]);
  });

  it("continues the live output where a page ended, and reports each position in the queue once", async () => {
    const waiting = page([], { live: [], live_next: "W10", waiting: { position: 3 } });
    const found = await read([waiting, waiting, stream('event: waiting\ndata: {"position":2}\n\n'), END]);
    expect(found.positions).toEqual([3, 2]);
    expect(found.requests).toEqual([
      [0, undefined],
      [0, "W10"],
      [0, "W10"],
      [0, "W10"],
    ]);
  });

  it("sends the next request after a second without news, or after the delay that the server sets", async () => {
    const [valid, invalid, soon] = ["250", "250x", "50"].map((ms) => stream(`retry: ${ms}\n\n`));
    const found = await read([page([], { live_next: "W1" }), valid ?? END, invalid ?? END, soon ?? END, END]);
    expect(found.waits).toEqual([900, 150, 900, 0]);
  });

  it("reads a page that is not served as a stream, and a response without a body", async () => {
    const empty = () => new Response(null, { headers: { "content-type": "text/event-stream" } });
    const found = await read([empty, page([createEvent(1)], { ended: true })]);
    expect(found).toMatchObject({ sequences: [1], waits: [900], error: undefined });
  });

  it("retries connection errors with growing waits, as often as allowed since the last event", async () => {
    const away = fail(new APIConnectionError("away"));
    const found = await read([away, away, page([createEvent(1)]), away, away, away], { maxRetries: 2 });
    expect(found.sequences).toEqual([1]);
    expect(found.waits).toEqual([500, 1_000, 500, 1_000]);
    expect(found.error).toEqual(new APIConnectionError("away"));
  });

  it("retries error responses that allow it, after the wait that they request", async () => {
    const busy = new RateLimitError("429", { status: 429, headers: new Headers({ "retry-after": "7" }) });
    const changed = new ConflictError("409", { status: 409, body: { retryable: true } });
    const away = new APIConnectionError("away");
    const found = await read([fail(busy), fail(changed), fail(away), END], { maxRetries: 3 });
    expect(found).toMatchObject({ waits: [7_000, 1_000, 2_000], error: undefined });
    expect(await read([fail(busy), fail(busy)], { maxRetries: 1 })).toMatchObject({ waits: [7_000], error: busy });
  });

  it("starts a new row of retries after a complete response, even if it contains nothing new", async () => {
    const away = fail(new APIConnectionError("away"));
    const found = await read([away, page([]), away, END], { maxRetries: 1 });
    expect(found).toMatchObject({ waits: [500, 900, 500], error: undefined });
  });

  it("throws other errors at once, and those of unreadable responses as connection errors", async () => {
    const missing = new NotFoundError("404", { status: 404 });
    expect(await read([fail(missing)])).toMatchObject({ error: missing, waits: [] });
    const unreadable = await read([stream("{", "application/json")], { maxRetries: 0 });
    expect(unreadable.error).toBeInstanceOf(APIConnectionError);
    expect(unreadable.error).toHaveProperty("cause", expect.any(SyntaxError));
  });

  it("ends the request with the caller's signal, and leaves no listener on it", async () => {
    const aborter = new AbortController();
    const added = vi.spyOn(aborter.signal, "addEventListener");
    const removed = vi.spyOn(aborter.signal, "removeEventListener");
    const source = {
      maxRetries: 3,
      timeout: 60_000,
      signal: aborter.signal,
      onWaiting: undefined,
      sleep: async () => undefined,
      request: async (_: number, __: string | undefined, signal: AbortSignal) => neverEnding(signal),
    };
    const reading = streamRun(0, source).next();
    aborter.abort(new Error("enough"));
    await expect(reading).rejects.toMatchObject({ name: "APIUserAbortError", cause: new Error("enough") });
    expect(removed.mock.calls).toEqual(added.mock.calls);
    const late = streamRun(0, source).next();
    await expect(late).rejects.toBeInstanceOf(APIUserAbortError);
  });

  it("ends the request of a reader that leaves early", async () => {
    const signals: AbortSignal[] = [];
    const source = {
      maxRetries: 3,
      timeout: 60_000,
      signal: undefined,
      onWaiting: undefined,
      sleep: async () => undefined,
      request: async (_: number, __: string | undefined, signal: AbortSignal) => {
        signals.push(signal);
        return page([createEvent(1), createEvent(2)])();
      },
    };
    for await (const item of streamRun(0, source)) {
      expect([item.kind, signals[0]?.aborted]).toEqual(["event", false]);
      break;
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("connects again after 45 seconds of silence", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const reading = read([neverEnding, END]);
    await vi.advanceTimersByTimeAsync(44_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reading).toMatchObject({ waits: [500], error: undefined });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("requests a page again that is not complete within the timeout, which began with the request", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const stalled = (signal: AbortSignal) => neverEnding(signal, "application/json");
    const reading = read([stalled, stalled], { maxRetries: 1 });
    for (const retries of [0, 1]) {
      await vi.advanceTimersByTimeAsync(60_000 - REQUEST_MS - 1);
      expect(vi.getTimerCount()).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(vi.getTimerCount()).toBe(1 - retries);
    }
    const { waits, error } = await reading;
    expect(waits).toEqual([500]);
    expect(error).toBeInstanceOf(APITimeoutError);
  });
});

function neverEnding(signal: AbortSignal, type = "text/event-stream"): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = () => controller.error(signal.reason);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    },
  });
  return new Response(body, { headers: { "content-type": type } });
}

describe("createFrameFilter", () => {
  const frame = (offset: number, text: string, more: Partial<LiveFrame> = {}): LiveFrame => ({
    action_id: "a1",
    stream: "stdout",
    offset,
    text,
    ...more,
  });

  it("passes on only what is new of each stream, by the offset in bytes", () => {
    const filter = createFrameFilter();
    expect(filter.take(frame(0, "abé"))).toEqual(frame(0, "abé"));
    expect(filter.take(frame(2, "é"))).toBeUndefined();
    expect(filter.take(frame(2, "éf"))).toEqual(frame(4, "f"));
    expect(filter.take(frame(5, "g"))).toEqual(frame(5, "g"));
    expect(filter.take(frame(0, "abéf", { stream: "stderr" }))).toEqual(frame(0, "abéf", { stream: "stderr" }));
    expect(filter.take(frame(0, "other", { action_id: "a2" }))).toEqual(frame(0, "other", { action_id: "a2" }));
  });

  it("passes nothing on of an action or a message that an event has completed", () => {
    const filter = createFrameFilter();
    const text: LiveFrame = { message_id: "m1", stream: "text", offset: 0, text: "x" };
    filter.note(createEvent(1, "agent_started", message({ type: "action_result", action_id: "a1" })));
    filter.note(createEvent(2, "messages", { messages: "none" }));
    filter.note(createEvent(3, "messages", { messages: [null, { content: [7, null, {}] }] }));
    expect(filter.take(frame(0, "x"))).toEqual(frame(0, "x"));
    expect(filter.take(text)).toEqual(text);
    filter.note(
      createEvent(
        4,
        "messages",
        message({ type: "action_result", action_id: "a1" }, { type: "text", message_id: "m1" }),
      ),
    );
    expect([filter.take(frame(1, "y")), filter.take({ ...text, offset: 1 })]).toEqual([undefined, undefined]);
    expect(filter.take(frame(0, "z", { action_id: "a2" }))).toEqual(frame(0, "z", { action_id: "a2" }));
  });
});
