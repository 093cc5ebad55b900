import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { type TickItem, TickOutcome } from "#shared/wire/schedule.ts";

/** Days for which the table tells what became of a planned firing. */
const KEPT_DAYS = 90;

/** A planned firing and what became of it. There is one item for each, written once. */
const Tick = v.object({
  at: v.number(),
  outcome: TickOutcome,
  recorded_at: v.number(),
  run_id: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
});
export type Tick = v.InferOutput<typeof Tick>;

/** Writes the outcome of a planned firing, unless it has one. */
export function putTick(scheduleId: string, tick: Tick): Put {
  const expires = Math.ceil(tick.recorded_at / 1000) + KEPT_DAYS * 24 * 3600;
  return {
    kind: "put",
    item: { ...keys.tick(scheduleId, tick.at), v: 1, expires_at: expires, ...tick },
    if: { pk: { exists: false } },
  };
}

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

/** The message of the queue `ticks`: a timer has gone off. */
export const TickMessage = v.object({
  v: v.literal(1),
  schedule_id: v.string(),
  /** The time that the timer was set to, whenever it really went off. */
  scheduled_time: v.pipe(v.string(), v.isoTimestamp()),
});
