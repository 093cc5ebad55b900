import type { Dialect, Meter } from "./dialect.ts";
import { PROVIDER_REMEDY } from "./error-kinds.ts";
import { streamEvents } from "./events.ts";
import { toErrorEvent } from "./provider-response.ts";

/** Milliseconds of silence after which a stream counts as broken. Providers send keep-alive events more often. */
const SILENCE_MS = 120_000;
/** Bytes that wait for a caller who does not read; beyond, it gets no more. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

interface RelayOptions {
  readonly dialect: Dialect;
  /** Named in errors. */
  readonly provider: string;
  /** Redacts the keys of the call, which errors must not show. */
  readonly hide?: (text: string) => string;
  readonly meter: Meter;
  /** Aborted where the execution is over: its caller gets no more. */
  readonly givenUp: AbortSignal;
  /** Called when the caller has disconnected. @default the response is read to its end, which contains its usage */
  readonly hangUp?: () => void;
  /** Settles the call when the provider's response is over for any reason. */
  readonly settle: () => Promise<void>;
  readonly silenceMs?: number | undefined;
}

interface Relayed {
  /** The provider's stream as the caller gets it, event by event. One that breaks off ends with an error that says so. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Resolves when the response has ended and is settled, whether or not the caller has read it. */
  readonly settled: Promise<void>;
}

/** Reads a streamed response at the provider's speed until it ends or fails, and passes it on for as long as the caller reads it. */
export function relay(upstream: ReadableStream<Uint8Array>, options: RelayOptions): Relayed {
  let settled: Promise<void> = Promise.resolve();
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        settled = pump(upstream, createOutput(controller), options);
      },
      cancel: () => options.hangUp?.(),
    },
    { highWaterMark: MAX_WAITING_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  return { stream, settled };
}

interface Output {
  write(text: string): void;
  /** Sends a last text and ends the stream. */
  end(text?: string): void;
}

function createOutput(controller: ReadableStreamDefaultController<Uint8Array>): Output {
  const encoder = new TextEncoder();
  const unlessClosed = (work: () => void) => {
    try {
      work();
    } catch {
      // The caller has hung up, or gets no more.
    }
  };
  return {
    write: (text) =>
      unlessClosed(() => {
        controller.enqueue(encoder.encode(text));
        if ((controller.desiredSize ?? 0) <= 0) controller.error(new Error("the response is not read"));
      }),
    end: (text) =>
      unlessClosed(() => {
        if (text !== undefined) controller.enqueue(encoder.encode(text));
        controller.close();
      }),
  };
}

async function pump(
  upstream: ReadableStream<Uint8Array>,
  output: Output,
  { dialect, provider, hide = (text) => text, meter, givenUp, settle, silenceMs = SILENCE_MS }: RelayOptions,
): Promise<void> {
  const broken = (why: string) => `${dialect.errorEvent(describeBroken(provider, why))}\n\n`;
  const giveUp = () => output.end(broken("the call was given up"));
  if (givenUp.aborted) giveUp();
  givenUp.addEventListener("abort", giveUp);
  const reader = upstream.getReader();
  let failure: string | undefined;
  let failed = false;
  try {
    for await (const event of streamEvents(() => readWithin(reader, silenceMs))) {
      const error = toErrorEvent(dialect, provider, hide(event.data), /^event: ?error/m.test(event.raw));
      failed ||= error !== undefined;
      if (meter.see(event.data) || error !== undefined) output.write(`${error ?? event.raw}\n\n`);
    }
    if (!meter.ended() && !failed) failure = "the response broke off";
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  givenUp.removeEventListener("abort", giveUp);
  void reader.cancel().catch(() => undefined);
  try {
    await settle();
  } finally {
    output.end(failure === undefined ? undefined : broken(failure));
  }
}

const describeBroken = (provider: string, why: string): string =>
  `${provider} returned 200 and did not finish its response: ${why}. ${PROVIDER_REMEDY}`;

async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, silenceMs: number) {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`nothing came for ${silenceMs / 1000} seconds`)), silenceMs);
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
  }
}
