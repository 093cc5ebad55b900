import { keys, schedulePk } from "#shared/table/keys.ts";
import type { Page, Put, Table } from "#shared/table/table.ts";
import type { Tick } from "./tick.ts";

/** Days for which the outcome of a planned firing is kept. */
const KEPT_DAYS = 90;

/** Returns the write of the outcome of a planned firing; its condition fails where the firing has an outcome. */
export function putTick(scheduleId: string, tick: Tick): Put {
  const expires = Math.ceil(tick.recorded_at / 1000) + KEPT_DAYS * 24 * 3600;
  return {
    kind: "put",
    item: { ...keys.tick(scheduleId, tick.at), v: 1, expires_at: expires, ...tick },
    if: { pk: { exists: false } },
  };
}

/** Reads outcomes of planned firings, the latest first; the sort key of the last one is the `before` of the next page. */
export function queryTicks(
  scheduleId: string,
  before: string | undefined,
  limit: number,
  table: Pick<Table, "query">,
): Promise<Page> {
  const range = before === undefined ? {} : { before };
  return table.query({ pk: schedulePk(scheduleId), prefix: "TICK#", ...range, descending: true, limit });
}

/** True if a planned firing has an outcome. */
export const hasTick = async (scheduleId: string, at: number, table: Pick<Table, "get">): Promise<boolean> =>
  (await table.get(keys.tick(scheduleId, at))) !== undefined;
