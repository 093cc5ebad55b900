import { isTerminal } from "#shared/records/run.ts";
import { isWaitingForCapacity, type RunHead } from "#shared/records/run-head.ts";
import type { RunEvents } from "#shared/wire/event.ts";
import { createLiveReader, type EventPorts, type LiveReader, QUEUE_READ_MS, watchRun } from "./live-output.ts";
import { readEvents } from "./timeline.ts";

/** Checks that the reader may still read the run. @throws RunyardError if not */
export type CheckAccess = (head: RunHead) => Promise<void>;

/** Which events to read. */
export interface EventsQuery {
  /** The sequence number of the last event that the reader has. */
  readonly after: number;
  /** Seconds to wait if there is nothing yet. */
  readonly waitSeconds: number;
  /** Whether to read live output too. */
  readonly isLive: boolean;
  /** Where the reader is in the live output. */
  readonly livePosition?: string | undefined;
  /** Called each time before what is new is read. */
  readonly checkAccess?: CheckAccess;
}

/** Reads the events after `after`, and the live output. Waits if there is neither; of the run it then reads only the head. */
export async function waitForEvents(first: RunHead, options: EventsQuery, ports: EventPorts): Promise<RunEvents> {
  const { after, waitSeconds, isLive, livePosition, checkAccess } = options;
  const deadline = ports.now() + waitSeconds * 1000;
  const reader = isLive ? createLiveReader(ports, livePosition) : undefined;
  const signals = ports.signals.subscribe(first.run_id);
  try {
    let head: RunHead = first;
    while (true) {
      const live = await readLive(head, reader, ports);
      const isMoved = (await reader?.readQueuePosition(head)) !== undefined;
      const isDone = hasNews(head, after) || live.length > 0 || isMoved || hasEnded(head) || ports.now() >= deadline;
      if (isDone) {
        const events = hasNews(head, after) ? await readEvents(head, after, ports) : [];
        const next = events.at(-1)?.sequence ?? after;
        const ended = hasEnded(head) && next >= head.next_sequence - 1;
        return { events, next, ended, ...(reader === undefined ? {} : showLive(live, reader)) };
      }
      const pause = isLive && isWaitingForCapacity(head) ? QUEUE_READ_MS : Number.POSITIVE_INFINITY;
      await signals.next(Math.min(deadline - ports.now(), pause));
      head = (await ports.runs.head(first.run_id)) ?? head;
      await checkAccess?.(head);
    }
  } finally {
    signals.close();
  }
}

/** Whether the run has events after `after`. */
export const hasNews = (head: RunHead, after: number): boolean => head.next_sequence > after + 1;

function showLive(live: RunEvents["live"] & object, reader: LiveReader) {
  const position = reader.queuePosition();
  return { live, live_next: reader.position(), ...(position === undefined ? {} : { waiting: { position } }) };
}

async function readLive(head: RunHead, reader: LiveReader | undefined, ports: EventPorts) {
  if (reader === undefined) return [];
  await watchRun(head, ports);
  return reader.read(head);
}

/**
 * True if the run has ended and its sandbox is known to have stopped, so that only a follow-up can add events. A sandbox whose key is
 * revoked cannot report that it has stopped, so callers do not wait for it.
 */
export function hasEnded(head: RunHead): boolean {
  const isAwaited = "stop_pending" in head && head.stop_pending === true && head.key_hash !== undefined;
  return isTerminal(head.state) && !isAwaited;
}
