import * as v from "valibot";
import type { Item } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { type TickItem, TickOutcome } from "#shared/wire/schedule.ts";

/** A planned firing and its outcome. Each is one item that is written once. */
const Tick = v.object({
  at: v.number(),
  outcome: TickOutcome,
  recorded_at: v.number(),
  run_id: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
});
export type Tick = v.InferOutput<typeof Tick>;

export function toTickItem(item: Item): TickItem {
  const { at, outcome, recorded_at, run_id, reason } = v.parse(Tick, item);
  return {
    scheduled_at: toTimestamp(at),
    outcome,
    recorded_at: toTimestamp(recorded_at),
    ...(run_id === undefined ? {} : { run_id }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** What a timer sends when it fires. */
export const TickMessage = v.object({
  v: v.literal(1),
  schedule_id: v.string(),
  /** The time that the timer was set to, not the time at which it fired. */
  scheduled_time: v.pipe(v.string(), v.isoTimestamp()),
});
