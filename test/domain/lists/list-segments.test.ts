import { describe, expect, it } from "vitest";
import { KEY_OF, type Order, type Range, type SortBy, type Source } from "#shared/runs/listing/order.ts";
import { timeBound } from "#shared/runs/listing/run-index-store.ts";
import { divideRange, findFarEnd, measureSpan } from "#shared/runs/listing/segments.ts";
import type { Item } from "#shared/table/table.ts";

const NEWEST_FIRST: Order = { sortBy: "updated_at", descending: true };
const OLDEST_FIRST: Order = { sortBy: "created_at", descending: false };

type Bounds = Readonly<Partial<Record<keyof Range, number>>>;

const toRange = (bounds: Bounds, order: Order): Range =>
  Object.fromEntries(Object.entries(bounds).map(([bound, time]) => [bound, timeBound(time, order)]));

const toEntry = (time: number, order: Order): Item => ({
  pk: "P",
  sk: "S",
  [KEY_OF[order.sortBy]]: timeBound(time, order),
});

describe("divideRange", () => {
  function divide(bounds: Bounds, order: Order, { segments = 3, width = 1000, end = 0 } = {}): readonly Range[] {
    return divideRange(toRange(bounds, order), { segments, width, end }, order);
  }
  const toRanges = (order: Order, ...parts: readonly Bounds[]) => parts.map((part) => toRange(part, order));

  it("divides a range from its newest entry on, if the newest come first", () => {
    expect(divide({ from: 20_000, before: 30_000 }, NEWEST_FIRST)).toEqual(
      toRanges(
        NEWEST_FIRST,
        { from: 29_000, before: 30_000 },
        { from: 28_000, before: 29_000 },
        { from: 27_000, before: 28_000 },
        { from: 20_000, before: 27_000 },
      ),
    );
  });

  it.each(["from", "after"] as const)("divides a range that begins with %s from its oldest entry on", (first) => {
    expect(divide({ [first]: 20_000, before: 30_000 }, OLDEST_FIRST, { segments: 2 })).toEqual(
      toRanges(
        OLDEST_FIRST,
        { [first]: 20_000, before: 21_000 },
        { from: 21_000, before: 22_000 },
        { from: 22_000, before: 30_000 },
      ),
    );
  });

  it.each([
    [1_999, 2],
    [2_000, 2],
    [2_001, 3],
  ])("makes no segment that begins at the end of a range of %i milliseconds", (length, parts) => {
    expect(divide({ from: 20_000, before: 20_000 + length }, NEWEST_FIRST)).toHaveLength(parts);
    expect(divide({ from: 20_000, before: 20_000 + length }, OLDEST_FIRST)).toHaveLength(parts);
  });

  it("divides an open range up to its last entry, and leaves its last part open", () => {
    expect(divide({ before: 30_000 }, NEWEST_FIRST, { segments: 9, end: 28_500 })).toEqual(
      toRanges(NEWEST_FIRST, { from: 29_000, before: 30_000 }, { before: 29_000 }),
    );
    expect(divide({ from: 20_000 }, OLDEST_FIRST, { segments: 9, end: 21_500 })).toEqual(
      toRanges(OLDEST_FIRST, { from: 20_000, before: 21_000 }, { from: 21_000 }),
    );
  });

  it("leaves a range whole whose beginning is open", () => {
    expect(divide({ from: 20_000 }, NEWEST_FIRST)).toEqual(toRanges(NEWEST_FIRST, { from: 20_000 }));
    expect(divide({ before: 20_000 }, OLDEST_FIRST)).toEqual(toRanges(OLDEST_FIRST, { before: 20_000 }));
  });
});

describe("measureSpan", () => {
  function measure(bounds: Bounds, times: readonly number[], hasRest: boolean, order: Order): number {
    const entries = times.map((time) => toEntry(time, order));
    return measureSpan(toRange(bounds, order), entries, hasRest, order);
  }

  it("is the whole range where nothing is left, and ends with the last entry where there is a rest", () => {
    expect(measure({ from: 20_000, before: 30_000 }, [29_000, 24_000], false, NEWEST_FIRST)).toBe(10_000);
    expect(measure({ from: 20_000, before: 30_000 }, [29_000, 24_000], true, NEWEST_FIRST)).toBe(6_000);
    expect(measure({ from: 20_000, before: 30_000 }, [21_000, 24_000], true, OLDEST_FIRST)).toBe(4_000);
  });

  it("begins with the first entry and ends with the last one where the range is open", () => {
    expect(measure({}, [29_000, 24_000], false, NEWEST_FIRST)).toBe(5_000);
    expect(measure({}, [21_000, 24_000], false, OLDEST_FIRST)).toBe(3_000);
  });

  it("is zero without an end, and in orders that are not by time", () => {
    expect(measure({ before: 30_000 }, [], false, NEWEST_FIRST)).toBe(0);
    const byTitle: Order = { sortBy: "title" satisfies SortBy, descending: false };
    expect(measureSpan({ from: "a", before: "b" }, [{ pk: "P", sk: "S", title_key: "a" }], false, byTitle)).toBe(0);
  });
});

describe("findFarEnd", () => {
  const createSource =
    (order: Order, ...times: readonly number[]): Source =>
    async (_, limit, descending) => {
      const sorted = times.toSorted((one, other) => (descending ? other - one : one - other));
      return { items: sorted.slice(0, limit).map((time) => toEntry(time, order)), more: times.length > limit };
    };

  it("is the oldest entry of all sources if the newest come first, and otherwise the newest", async () => {
    const find = (order: Order) =>
      findFarEnd([createSource(order, 5000, 3000), createSource(order), createSource(order, 4000, 7000)], {}, order);
    expect(await find(NEWEST_FIRST)).toBe(3000);
    expect(await find(OLDEST_FIRST)).toBe(7000);
  });

  it("is undefined without entries", async () => {
    expect(await findFarEnd([createSource(NEWEST_FIRST)], {}, NEWEST_FIRST)).toBeUndefined();
  });
});
