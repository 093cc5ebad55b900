import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { isWaitingForCapacity, type RunHead } from "#shared/records/run-head.ts";
import { Message } from "#shared/wire/conversation.ts";
import type { RunEvent } from "#shared/wire/event.ts";
import { createLiveReader, type EventPorts, finishedIds, QUEUE_READ_MS, watchRun } from "./live-output.ts";
import { readEvents } from "./timeline.ts";
import { type EventsQuery, hasEnded, hasNews } from "./wait-for-events.ts";

/** A comment is sent after this time without an event, so that proxies keep the connection. */
const COMMENT_MS = 15_000;
/** A stream with live output says at this interval that the run is watched. */
const WATCH_AGAIN_MS = 10_000;
/** When a client connects again after the end of a stream, in milliseconds. */
const RETRY_MS = 1_000;

interface StreamQuery extends Pick<EventsQuery, "after" | "isLive" | "checkAccess"> {
  /** How long the stream lasts; then the client connects again. */
  readonly streamSeconds: number;
}

/**
 * Streams the events of a run as `text/event-stream` until it has ended, the reader's access has ended, or the stream's time is over. Nothing is read ahead: a
 * slow reader gets the live output that is there when it reads on.
 */
export async function* streamRunEvents(
  first: RunHead,
  { after, isLive, streamSeconds, checkAccess }: StreamQuery,
  ports: EventPorts,
): AsyncGenerator<string, void> {
  const { now } = ports;
  const deadline = now() + streamSeconds * 1000;
  const signals = ports.signals.subscribe(first.run_id);
  const news = createNews(after, isLive, ports);
  let head = first;
  let sentAt = now();
  try {
    // The first bytes show the client that it is connected.
    yield formatRetry();
    while (now() < deadline) {
      for await (const text of news.read(head)) {
        yield text;
        sentAt = now();
      }
      if (hasEnded(head) && !hasNews(head, news.last())) {
        yield `event: end\ndata: ${JSON.stringify({ next: news.last(), ended: true })}\n\n`;
        return;
      }
      if (now() - sentAt >= COMMENT_MS) {
        yield ": waiting\n\n";
        sentAt = now();
      }
      const pause = isLive && isWaitingForCapacity(head) ? QUEUE_READ_MS : WATCH_AGAIN_MS;
      await signals.next(Math.min(sentAt + COMMENT_MS, deadline, now() + pause) - now());
      head = (await ports.runs.head(head.run_id)) ?? head;
      // A reader whose access has ended learns why from its next request.
      if (checkAccess !== undefined && !(await isAllowed(checkAccess(head)))) return;
    }
    yield formatRetry();
  } finally {
    signals.close();
  }
}

const isAllowed = (check: Promise<void>): Promise<boolean> =>
  check.then(
    () => true,
    (error: unknown) => {
      if (error instanceof RunyardError) return false;
      throw error;
    },
  );

const formatRetry = (): string => `retry: ${RETRY_MS}\n\n`;

/** Formats what is new for one reader. */
function createNews(after: number, isLive: boolean, ports: EventPorts) {
  const reader = createLiveReader(ports);
  let last = after;
  return {
    /** The sequence number of the last event. */
    last: () => last,
    async *read(head: RunHead): AsyncGenerator<string, void> {
      if (isLive) await watchRun(head, ports);
      while (hasNews(head, last)) {
        const events = await readEvents(head, last, ports);
        if (events.length === 0) break;
        for (const event of events) {
          last = event.sequence;
          reader.finish(finishedIds(toMessages(event)));
          yield `id: ${last}\ndata: ${JSON.stringify(event)}\n\n`;
        }
      }
      if (!isLive) return;
      const position = await reader.readQueuePosition(head);
      if (position !== undefined) yield `event: waiting\ndata: ${JSON.stringify({ position })}\n\n`;
      for (const frame of await reader.read(head)) yield `event: live\ndata: ${JSON.stringify(frame)}\n\n`;
    },
  };
}

const Data = v.object({ messages: v.array(Message) });

const toMessages = ({ type, data }: RunEvent): readonly Message[] =>
  type === "messages" ? v.parse(Data, data).messages : [];
