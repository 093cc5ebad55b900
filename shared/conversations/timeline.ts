import * as v from "valibot";
import type { FileStore } from "#shared/files/file-store.ts";
import { type Checkpoint, isLive, loadCheckpoint } from "#shared/records/checkpoint.ts";
import { toFollowupId } from "#shared/records/followup.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Item } from "#shared/table/table.ts";
import { EventType, type RunEvent, type TimelineEvent, TimelineType } from "#shared/wire/event.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { readBatch } from "./messages.ts";

const EventItem = v.object({
  sequence: v.number(),
  uuid: v.string(),
  type: EventType,
  occurred_at: v.number(),
  execution_id: v.exactOptional(v.string()),
  data: v.record(v.string(), v.unknown()),
});

/** True for a stored event that the timeline shows. */
export const isTimelineEvent = (item: Item): boolean => v.is(TimelineType, item["type"]);

/** A stored event as the timeline shows it. */
export function toTimelineEvent(runId: string, item: Item): TimelineEvent {
  const event = v.parse(EventItem, item);
  return {
    event_uuid: event.uuid,
    run_id: runId,
    event_type: v.parse(TimelineType, event.type),
    occurred_at: toTimestamp(event.occurred_at),
    ...(event.execution_id === undefined ? {} : { execution_id: event.execution_id }),
    ...(Object.keys(event.data).length === 0 ? {} : { payload: toEventData(event) }),
  };
}

/** The data of an event. That of a follow-up stores its number only, from which its id follows. */
function toEventData({ type, data }: v.InferOutput<typeof EventItem>): Record<string, unknown> {
  const { number } = data;
  if (type !== "followup_received" || typeof number !== "number") return data;
  return { ...data, followup_id: toFollowupId(number) };
}

const PAGE = 200;
/** Bytes of the messages of one response, unless a single batch has more. */
const PAGE_BYTES = 3 * 1024 * 1024;

/**
 * Reads a run's events and message batches after `after` in one sequence without gaps. Two queries read the two kinds, so the result
 * ends before the first number that neither of them has returned.
 */
export async function readEvents(
  head: RunHead,
  after: number,
  ports: Pick<RunPorts, "runs" | "files" | "table">,
): Promise<RunEvent[]> {
  const [events, batches, checkpoint] = await Promise.all([
    ports.runs.timelineItems(head.run_id, after, PAGE),
    ports.runs.messageItems(head.run_id, after, PAGE),
    loadCheckpoint(head, ports),
  ]);
  const items = new Map([...events.items, ...batches.items].map((item) => [item["sequence"], item]));
  const page: Promise<RunEvent>[] = [];
  let bytes = 0;
  for (let item = items.get(after + 1); item !== undefined; item = items.get(after + 1 + page.length)) {
    bytes += typeof item["bytes"] === "number" ? item["bytes"] : 0;
    if (bytes > PAGE_BYTES && page.length > 0) break;
    page.push(item.sk.startsWith("MESSAGES#") ? toMessagesEvent(item, checkpoint, ports.files) : toRunEvent(item));
  }
  return Promise.all(page);
}

async function toMessagesEvent(item: Item, checkpoint: Checkpoint, files: FileStore): Promise<RunEvent> {
  const batch = await readBatch(item, files);
  return {
    sequence: batch.sequence,
    type: "messages",
    occurred_at: toTimestamp(batch.occurredAt),
    data: {
      first_sequence: batch.first,
      messages: batch.messages,
      // A snapshot is taken between two batches, never within one.
      ...(isLive(checkpoint, batch.first) ? {} : { superseded: true }),
    },
  };
}

async function toRunEvent(item: Item): Promise<RunEvent> {
  const event = v.parse(EventItem, item);
  return {
    sequence: event.sequence,
    type: event.type,
    occurred_at: toTimestamp(event.occurred_at),
    data: { ...toEventData(event), ...(event.execution_id === undefined ? {} : { execution_id: event.execution_id }) },
  };
}
