import type { Item } from "#shared/table/table.ts";
import { type Order, positionOf, type Range, type Source } from "./order.ts";
import { parseTime, timeBound } from "./run-index-store.ts";

export const isByTime = ({ sortBy }: Order): boolean => sortBy === "created_at" || sortBy === "updated_at";

/** Finds the time of the last entry in the direction of reading; undefined if there is no entry. */
export async function findFarEnd(sources: readonly Source[], range: Range, order: Order): Promise<number | undefined> {
  const pages = await Promise.all(sources.map((source) => source(range, 1, !order.descending)));
  const times = pages.flatMap(({ items }) => items.map((item) => parseTime(positionOf(item, order), order)));
  if (times.length === 0) return undefined;
  return order.descending ? Math.min(...times) : Math.max(...times);
}

interface Division {
  readonly segments: number;
  readonly width: number;
  readonly end: number;
}

/**
 * Divides a range into segments of `width` milliseconds and the rest after them. The last part is open where the range is:
 * `end` is where its entries are known to reach.
 */
export function divideRange(range: Range, { segments, width, end }: Division, order: Order): Range[] {
  const { descending } = order;
  const start = startTime(range, order);
  if (start === undefined) return [range];
  const stop = endTime(range, order) ?? end;
  const parts: Range[] = [];
  let rest = range;
  for (let number = 1; number <= segments && width * number < Math.abs(stop - start); number++) {
    const bound = timeBound(descending ? start - number * width : start + number * width, order);
    parts.push(descending ? { ...rest, from: bound } : { ...rest, before: bound });
    rest = descending ? { ...keepFrom(range), before: bound } : { ...keepBefore(range), from: bound };
  }
  return [...parts, rest];
}

/** Measures the milliseconds that were read of a range: all of it, or up to the last entry where there is a rest. */
export function measureSpan(range: Range, entries: readonly Item[], hasRest: boolean, order: Order): number {
  if (!isByTime(order)) return 0;
  const timeAt = (entry: Item | undefined) =>
    entry === undefined ? undefined : parseTime(positionOf(entry, order), order);
  const last = timeAt(entries.at(-1));
  const start = startTime(range, order) ?? timeAt(entries[0]);
  const end = hasRest ? last : (endTime(range, order) ?? last);
  return start === undefined || end === undefined ? 0 : Math.abs(end - start);
}

function startTime({ after, from, before }: Range, order: Order): number | undefined {
  const start = order.descending ? before : (after ?? from);
  return start === undefined ? undefined : parseTime(start, order);
}
function endTime({ from, before }: Range, order: Order): number | undefined {
  const end = order.descending ? from : before;
  return end === undefined ? undefined : parseTime(end, order);
}

const keepFrom = ({ from }: Range): Range => (from === undefined ? {} : { from });
const keepBefore = ({ before }: Range): Range => (before === undefined ? {} : { before });
