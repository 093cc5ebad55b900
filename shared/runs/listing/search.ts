import type { Item } from "#shared/table/table.ts";
import { createBatchSizer } from "./batch-size.ts";
import { type MergedStream, mergeSources } from "./merge.ts";
import { type Order, positionOf, type Range, rangeAfter, type Source } from "./order.ts";
import { divideRange, findFarEnd, measureSpan } from "./segments.ts";

/** What was found in a run's entry; `id` identifies the run. */
interface Finding {
  readonly id: string;
}

export interface Search<T extends Finding> {
  readonly sources: readonly Source[];
  readonly order: Order;
  readonly range: Range;
  /** How many to find, if there are as many. */
  readonly wanted: number;
  /** Finds what is wanted in entries that follow each other; the first `wanted` findings are enough. */
  readonly match: (entries: readonly Item[]) => Promise<readonly T[]>;
  readonly isLate: () => boolean;
}

export interface Found<T> {
  readonly found: readonly T[];
  /** The position after which nothing was read; undefined if there is nothing more. */
  readonly stoppedAt: string | undefined;
}

/** A part of the range: not yet read, or read to `end` with what was found there. */
interface Part<T> {
  readonly range: Range;
  /** The stream that has read further than was taken, where the part before this one was read. */
  readonly stream?: MergedStream;
  readonly found?: readonly T[];
  readonly end?: string | undefined;
}

/**
 * Finds the first of what is wanted in the order of the list. The first round reads as much as is enough if everything
 * matches. Where little matches, each round reads up to four times as much as the one before, in the orders by time as
 * segments of time in parallel. A match counts only if everything before it has been read.
 */
export async function search<T extends Finding>(query: Search<T>): Promise<Found<T>> {
  const { sources, order, range, wanted, isLate } = query;
  const batchSizer = createBatchSizer(order, wanted);
  const found = new Map<string, T>();
  let parts: readonly Part<T>[] = [{ range }];
  let stoppedAt: string | undefined;
  let end: number | undefined;
  // The first round is always read: without a position, the result would look complete.
  while (parts.length > 0 && found.size < wanted && (!isLate() || stoppedAt === undefined)) {
    const { segments, width, entries } = batchSizer.round();
    if (segments > 1) end ??= await findFarEnd(sources, range, order);
    const planned = parts.flatMap((part): readonly Part<T>[] => {
      if (segments === 1 || end === undefined || part.found !== undefined) return [part];
      const ranges = divideRange(part.range, { segments, width, end }, order);
      return ranges.length === 1 ? [part] : ranges.map((one) => ({ range: one }));
    });
    const chosen = new Set(planned.filter((part) => part.found === undefined).slice(0, segments));
    const read = planned.map((part) => (chosen.has(part) ? readPart(part, entries, segments > 1) : [part]));
    parts = (await Promise.all(read)).flat();
    const unread = parts.findIndex((part) => part.found === undefined);
    const seen = unread < 0 ? parts : parts.slice(0, unread);
    for (const part of seen) {
      for (const one of part.found ?? []) if (!found.has(one.id)) found.set(one.id, one);
      stoppedAt = part.end;
    }
    parts = parts.slice(seen.length);
    batchSizer.next(found.size);
  }
  return { found: [...found.values()].slice(0, wanted), stoppedAt: parts.length === 0 ? undefined : stoppedAt };

  /** The part as far as it was read, and the rest of it. */
  async function readPart(
    { range: part, stream: begun }: Part<T>,
    amount: number,
    isSegment: boolean,
  ): Promise<Part<T>[]> {
    const stream = begun ?? mergeSources(sources, part, order, isSegment);
    const entries = await stream.take(amount);
    const last = entries.at(-1);
    const hasRest = stream.more && last !== undefined;
    batchSizer.note(entries.length, measureSpan(part, entries, hasRest, order));
    const found = await query.match(entries);
    if (!hasRest) return [{ range: part, found, end: endPosition(part, order) }];
    const end = positionOf(last, order);
    return [
      { range: part, found, end },
      { range: rangeAfter(part, end, order.descending), stream },
    ];
  }
}

const endPosition = (range: Range, { descending }: Order): string | undefined =>
  descending ? range.from : range.before;
