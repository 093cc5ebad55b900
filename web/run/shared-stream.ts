import type { LiveFrame, RunEvent, RunStreamItem } from "../../clients/typescript/src/index.ts";

/** A part of a run's stream: an event, live output, or a new position in the queue for capacity. */
export type StreamPart = RunStreamItem | { readonly kind: "waiting"; readonly position: number };

interface Options {
  readonly signal: AbortSignal;
  readonly onWaiting: (position: number) => void;
}

/** Where a run is read from. */
interface Source {
  /** Reads a page of the events after an event, and all live output. A page without events is the last one. */
  list(after: number, signal: AbortSignal): Promise<Page>;
  /** Reads what comes after an event, until the run has ended. */
  stream(after: number, options: Options): AsyncIterable<RunStreamItem>;
}

interface Page {
  readonly events: readonly RunEvent[];
  readonly live?: readonly LiveFrame[];
  readonly waiting?: { readonly position: number };
}

interface Reading {
  /** Names the stream: the same for all readers that share it. */
  readonly name: string;
  readonly after: number;
  readonly source: Source;
  readonly signal: AbortSignal;
  readonly onPart: (part: StreamPart) => void;
}

type Message = StreamPart | { readonly kind: "end" };

/**
 * Reads a run until it has ended. All readers of the same name in a browser share one stream: one of them reads it and passes it on
 * to the others. If it stops or fails, another one takes over. Without https a browser has no locks, so each reader has its own stream.
 */
export async function readTogether(reading: Reading): Promise<void> {
  const channel = new BroadcastChannel(reading.name);
  try {
    const reader = createReader(reading, channel);
    if (!("locks" in navigator)) return await reader.lead();
    const isTaken = await navigator.locks.request(reading.name, { ifAvailable: true }, async (lock) => {
      if (lock !== null) await reader.lead();
      return lock === null;
    });
    if (isTaken) await follow(reading, channel, reader);
  } finally {
    channel.close();
  }
}

type Reader = ReturnType<typeof createReader>;
type Channel = InstanceType<typeof BroadcastChannel>;

function createReader({ after, source, signal, onPart }: Reading, channel: Channel) {
  let last = after;
  const take = (part: StreamPart): void => {
    if (part.kind === "event") {
      if (part.event.sequence <= last) return;
      last = part.event.sequence;
    }
    onPart(part);
  };
  const catchUp = async (): Promise<void> => {
    while (true) {
      const { events, live = [], waiting } = await source.list(last, signal);
      for (const event of events) take({ kind: "event", event });
      for (const frame of live) take({ kind: "live", frame });
      if (waiting !== undefined) take({ kind: "waiting", position: waiting.position });
      if (events.length === 0) return;
    }
  };
  return {
    catchUp,
    /** Reads the stream for all readers. */
    async lead(): Promise<void> {
      const pass = (part: StreamPart): void => {
        take(part);
        channel.postMessage(part);
      };
      const onWaiting = (position: number) => pass({ kind: "waiting", position });
      for await (const part of source.stream(last, { signal, onWaiting })) pass(part);
      channel.postMessage({ kind: "end" } satisfies Message);
    },
    /** Takes a part from the reader of the stream. Reads events that are missing before it first. */
    async receive(part: StreamPart): Promise<void> {
      if (part.kind === "event" && part.event.sequence > last + 1) await catchUp();
      take(part);
    },
  };
}

/** Takes what another reader passes on until the run has ended, and takes over from a reader that stops. */
async function follow({ name, signal }: Reading, channel: Channel, { catchUp, lead, receive }: Reader): Promise<void> {
  const done = new AbortController();
  const end = Promise.withResolvers<void>();
  const noteFailure = (error: unknown) => end.reject(error);
  let work = Promise.resolve();
  channel.onmessage = ({ data }: { readonly data: Message }) => {
    work = work.then(() => (data.kind === "end" ? end.resolve() : receive(data)));
    void work.catch(noteFailure);
  };
  // From here on nothing is missed, so what came before can be read.
  work = catchUp();
  void work.catch(noteFailure);
  const turn = navigator.locks.request(name, { signal: AbortSignal.any([signal, done.signal]) }, async () => {
    channel.onmessage = () => undefined;
    await work;
    await lead();
  });
  try {
    await Promise.race([turn, end.promise]);
  } finally {
    done.abort();
    await turn.catch(() => undefined);
  }
}
