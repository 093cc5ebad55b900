import type { LiveFrame } from "#shared/wire/event.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import { createLiveStream, type LivePiece, type LiveStream } from "./live-stream.ts";

/** Sends output to the readers of a run while it is being produced. */
export interface LiveOutput {
  /** Opens the output of an action. */
  open(actionId: string): OpenOutput;
  /** Adds to the text that the model is writing. */
  text(piece: string): void;
  /** Ends the text of the model. Returns the id that its message has to have; undefined if there is no text. */
  endText(): string | undefined;
  /** Sets whether anybody reads. Without readers, nothing is sent or redacted. */
  setWatched(isWatched: boolean): void;
  /** Calls `listener` now and whenever it changes whether anybody reads. Returns a function that ends this. */
  onWatched(listener: (isWatched: boolean) => void): () => void;
  /** Stops sending. */
  end(): void;
}

export interface OpenOutput {
  readonly push: (chunk: Buffer) => void;
  /** Notes that the next output comes after this many bytes that are missing. */
  skip(bytes: number): void;
  end(): void;
}

export interface LiveOutputOptions {
  readonly plane: Pick<ControlPlane, "sendLive">;
  readonly redactor: Redactor;
  /** Called before the first output of a stream is sent. */
  readonly beforeFirst?: () => Promise<void>;
  /** Milliseconds between two requests, at least. @default 500 */
  readonly intervalMs?: number;
}

/** Output that comes within this time shares a frame. */
const GATHER_MS = 20;
/** Frames of one request. */
const MAX_FRAMES = 16;

type Owner = Pick<LiveFrame, "action_id" | "message_id" | "stream">;
interface Open {
  readonly owner: Owner;
  readonly stream: LiveStream;
  /** Whether the readers have nothing of it yet. */
  isFresh: boolean;
}

const INTERVAL_MS = 500;

export function createLiveOutput(options: LiveOutputOptions): LiveOutput {
  const { plane, redactor, beforeFirst = async () => {}, intervalMs = INTERVAL_MS } = options;
  const streams = new Set<Open>();
  let text: { readonly id: string; readonly output: OpenOutput } | undefined;
  const listeners = new Set<(isWatched: boolean) => void>();
  let isWatched = false;
  let isSending = false;
  let sentAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const schedule = (): void => {
    if (!isWatched || isSending || streams.size === 0) return;
    timer ??= setTimeout(send, Math.max(GATHER_MS, sentAt + intervalMs - Date.now())).unref();
  };
  const send = async (): Promise<void> => {
    timer = undefined;
    if (!isWatched) return;
    const isFirst = [...streams].some(({ isFresh }) => isFresh);
    const frames = [...streams].flatMap(takeFrames).slice(-MAX_FRAMES);
    sentAt = Date.now();
    if (frames.length === 0) {
      if ([...streams].some(({ stream }) => stream.isHolding())) schedule();
      return;
    }
    isSending = true;
    // A frame that is lost is replaced by the message with the whole output.
    await (isFirst ? beforeFirst() : Promise.resolve()).then(() => plane.sendLive(frames)).catch(() => undefined);
    isSending = false;
    // What is held back of a line is shown if nothing follows.
    schedule();
  };
  const openStream = (owner: Owner): OpenOutput => {
    const open: Open = { owner, stream: createLiveStream(redactor), isFresh: true };
    streams.add(open);
    return {
      push(chunk) {
        open.stream.push(chunk);
        schedule();
      },
      skip: open.stream.skip,
      end: () => void streams.delete(open),
    };
  };
  const endText = (): string | undefined => {
    const id = text?.id;
    text?.output.end();
    text = undefined;
    return id;
  };
  return {
    open: (action_id) => openStream({ action_id, stream: "stdout" }),
    text(piece) {
      if (text === undefined) {
        const id = randomUUID();
        text = { id, output: openStream({ message_id: id, stream: "text" }) };
      }
      text.output.push(Buffer.from(piece));
    },
    endText,
    setWatched(watched) {
      // A reader after a pause begins without what was sent before.
      if (watched && !isWatched) for (const open of streams) open.isFresh = true;
      const isChanged = watched !== isWatched;
      isWatched = watched;
      if (isChanged) for (const listener of listeners) listener(watched);
      schedule();
    },
    onWatched(listener) {
      listeners.add(listener);
      listener(isWatched);
      return () => void listeners.delete(listener);
    },
    end() {
      isWatched = false;
      clearTimeout(timer);
      streams.clear();
    },
  };
}

/** Takes what is new of a stream; the first time for a reader, also the end of what came before. */
function takeFrames(open: Open): LiveFrame[] {
  const earlier = open.isFresh ? open.stream.repeat() : undefined;
  const fresh = open.stream.take();
  open.isFresh = false;
  return [earlier, fresh].flatMap((piece: LivePiece | undefined) =>
    piece === undefined ? [] : [{ ...open.owner, ...piece }],
  );
}
