import type { Dialect, Meter } from "./dialect.ts";
import { streamEvents } from "./events.ts";

/** Milliseconds of silence after which a stream counts as broken. Providers send a sign of life more often. */
const SILENCE_MS = 120_000;

interface Relay {
  readonly dialect: Dialect;
  readonly meter: Meter;
  /** Aborted where the execution is over; the call to the provider hangs on it. */
  readonly aborter: AbortController;
  /** What is to be done when the stream is over, however that came: before it ends for the caller. */
  readonly done: () => Promise<void>;
  readonly silenceMs?: number | undefined;
}

/** The provider's stream as the caller gets it, event by event. One that breaks off ends with an error that says so. */
export function relay(upstream: ReadableStream<Uint8Array>, options: Relay): ReadableStream<Uint8Array> {
  const chunks = relayed(upstream, options);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    // The caller has hung up: what has been said until now is what was used.
    async cancel() {
      options.aborter.abort();
      await chunks.return();
    },
  });
}

async function* relayed(
  upstream: ReadableStream<Uint8Array>,
  { dialect, meter, aborter, done, silenceMs = SILENCE_MS }: Relay,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  const reader = upstream.getReader();
  try {
    for await (const event of streamEvents(() => readWithin(reader, aborter.signal, silenceMs))) {
      if (meter.see(event.data)) yield encoder.encode(`${event.raw}\n\n`);
    }
    if (!meter.ended()) throw new Error("the answer broke off");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    yield encoder.encode(`${dialect.errorEvent(`the model's provider did not finish its answer: ${why}`)}\n\n`);
  } finally {
    aborter.abort();
    reader.cancel().catch(() => undefined);
    await done();
  }
}

async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal, silenceMs: number) {
  let stop: (why: string) => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = (why) => reject(new Error(why));
  });
  const silent = setTimeout(() => stop(`nothing came for ${silenceMs / 1000} seconds`), silenceMs);
  const aborted = () => stop("the call was given up");
  if (signal.aborted) aborted();
  signal.addEventListener("abort", aborted);
  try {
    return await Promise.race([reader.read(), stopped]);
  } finally {
    clearTimeout(silent);
    signal.removeEventListener("abort", aborted);
  }
}
