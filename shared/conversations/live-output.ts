import * as v from "valibot";
import type { LiveTails, RunSignals } from "#shared/live/live-tails.ts";
import { cutBefore, getEnd, streamKey } from "#shared/live/run-tail.ts";
import { isTerminal } from "#shared/records/run.ts";
import { isWaitingForCapacity, type RunHead } from "#shared/records/run-head.ts";
import { readQueuePosition } from "#shared/runs/capacity/wait-queue.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Message } from "#shared/wire/conversation.ts";
import type { LiveFrame } from "#shared/wire/event.ts";

/** A run is watched for this long after a reader requested live output. */
const WATCH_MS = 30_000;
/** A reader that stays is recorded again after this time at the earliest, and after twice this time at the latest. */
const RENEW_MS = 10_000;
/** After this time without a reader the harness knows that it is not watched, and sends everything that it has to the next one. */
const FORGET_MS = 60_000;

/** What the readers of a run's events need. */
export interface EventPorts extends RunPorts {
  readonly live: LiveTails;
  readonly signals: RunSignals;
  /** How long a stream of events may last; undefined if the deployment cannot stream. */
  readonly streamSeconds: number | undefined;
}

/** What the endpoints that receive output need. */
export type LivePorts = RunPorts & Pick<EventPorts, "live">;

/** Whether the execution should send live output. It is known from the head, which each of its requests reads. */
export const isWatched = ({ watched_at }: RunHead, now: number): boolean => isYounger(watched_at, now, WATCH_MS);

/** Records that a reader requests the live output of a run. */
export async function watchRun(head: RunHead, { live, runs, now }: EventPorts): Promise<void> {
  const at = now();
  // Of many readers, the first one records the watch for all.
  if (isTerminal(head.state) || isYounger(head.watched_at, at, RENEW_MS * (1 + Math.random()))) return;
  // What is left from earlier readers may be complete by now.
  if (head.watched_at !== undefined && !isYounger(head.watched_at, at, FORGET_MS)) await live.clear(head.run_id);
  await runs.noteWatch(head.run_id, at);
}

/** Drops the live output that stored messages replace. A run that is not watched has none. */
export async function finishLiveOutput(
  head: RunHead,
  messages: readonly Message[],
  { live, now }: LivePorts,
): Promise<void> {
  if (!isYounger(head.watched_at, now(), FORGET_MS)) return;
  const ids = finishedIds(messages);
  if (ids.length > 0) await live.finish(head.run_id, ids);
}

/** The ids of the actions and messages that are complete with these messages. */
export const finishedIds = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => {
      if (block.type === "action_result") return [block.action_id];
      return block.type === "text" && block.message_id !== undefined ? [block.message_id] : [];
    }),
  );

const isYounger = (time: number | undefined, now: number, milliseconds: number): boolean =>
  time !== undefined && now - time < milliseconds;

/** Milliseconds between two reads of the queue in which a run waits. */
export const QUEUE_READ_MS = 2_000;
/** The name of the position in the queue among the positions in streams. */
const QUEUE = "queue";

/** Where a reader is in each stream of a run. */
const Position = v.pipe(v.string(), v.maxLength(16_384), v.parseJson(), v.array(v.tuple([v.string(), v.number()])));

/** Reads the live output of a run, each part once. */
export interface LiveReader {
  /** Returns what is new since the last call. */
  read(head: RunHead): Promise<LiveFrame[]>;
  /** Returns the run's position in the queue for capacity if it has changed since the last call. */
  readQueuePosition(head: RunHead): Promise<number | undefined>;
  /** The position in the queue that was returned last, while the run waits. */
  queuePosition(): number | undefined;
  /** Leaves out the output of these actions and messages from now on. */
  finish(ids: readonly string[]): void;
  /** The position of the reader, for the next request of a client. */
  position(): string;
}

/** @param position where to continue; anything but an earlier position is the beginning */
export function createLiveReader(ports: Pick<EventPorts, "live" | "table" | "now">, position = ""): LiveReader {
  const decoded = v.safeParse(Position, Buffer.from(position, "base64url").toString());
  let read = new Map(decoded.success ? decoded.output : []);
  const finished = new Set<string>();
  let queued = read.get(QUEUE);
  let queueReadAt = Number.NEGATIVE_INFINITY;
  read.delete(QUEUE);
  return {
    async read({ run_id, execution_id, state }) {
      const tail = isTerminal(state) ? undefined : await ports.live.read(run_id);
      if (tail === undefined || tail.execution_id !== execution_id) return [];
      const streams = tail.streams.filter((stream) => !finished.has(stream.action_id ?? stream.message_id ?? ""));
      const fresh = streams.flatMap((stream) => cutBefore(stream, read.get(streamKey(stream)) ?? 0) ?? []);
      // Streams that are not in the tail are complete.
      read = new Map(tail.streams.map((stream) => [streamKey(stream), getEnd(stream)]));
      return fresh;
    },
    async readQueuePosition(head) {
      if (!isWaitingForCapacity(head)) {
        queued = undefined;
        return undefined;
      }
      if (ports.now() - queueReadAt < QUEUE_READ_MS) return undefined;
      queueReadAt = ports.now();
      const last = queued;
      queued = await readQueuePosition(head, ports);
      return queued === last ? undefined : queued;
    },
    queuePosition: () => queued,
    finish(ids) {
      for (const id of ids) finished.add(id);
    },
    position() {
      const positions = queued === undefined ? [...read] : [...read, [QUEUE, queued]];
      return Buffer.from(JSON.stringify(positions)).toString("base64url");
    },
  };
}
