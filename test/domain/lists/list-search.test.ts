import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveUuid } from "#shared/ids.ts";
import { createBatchSizer, type Round } from "#shared/runs/listing/batch-size.ts";
import { type Order, positionOf, type Source } from "#shared/runs/listing/order.ts";
import { timeBound } from "#shared/runs/listing/run-index-store.ts";
import { search } from "#shared/runs/listing/search.ts";
import { toRange } from "#shared/runs/listing/sources.ts";
import type { Item } from "#shared/table/table.ts";

const START = Date.parse("2026-05-18T12:00:00.000Z");
const order = (sortBy: "updated_at" | "created_at", descending: boolean): Order => ({ sortBy, descending });
const orders = fc.constantFrom(
  order("updated_at", true),
  order("updated_at", false),
  order("created_at", true),
  order("created_at", false),
);

/** Bursts of runs, some of them at the same millisecond, with pauses between them. */
const bursts = fc.array(
  fc.record({
    runs: fc.integer({ min: 1, max: 3_000 }),
    everyMs: fc.constantFrom(0, 1, 977, 60_000),
    pauseMs: fc.constantFrom(0, 1, 3_600_000, 30 * 86_400_000),
  }),
  { minLength: 1, maxLength: 4 },
);
type Bursts = readonly { readonly runs: number; readonly everyMs: number; readonly pauseMs: number }[];

function listEntries(all: Bursts, { sortBy }: Order): Item[] {
  const entries: Item[] = [];
  let now = START;
  for (const { runs, everyMs, pauseMs } of all) {
    for (let run = 0; run < runs; run++, now += everyMs) {
      const id = `${timeBound(now, { sortBy: "created_at", descending: false })}${deriveUuid("run", `${entries.length}`).slice(13)}`;
      const updated = { updated_key: `${timeBound(now, { sortBy: "updated_at", descending: false })}#${id}` };
      entries.push({ pk: `RUN#${id}`, sk: "HEAD", number: entries.length, created_key: id, ...updated });
    }
    now += pauseMs;
  }
  const key = sortBy === "updated_at" ? "updated_key" : "created_key";
  return entries.sort((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));
}

interface Reading {
  queries: number;
  entries: number;
  now: number;
  atOnce: number;
}

/** Divides the entries into this many sources, which record what was read. */
function createSources(entries: readonly Item[], sources: number, by: Order, reading: Reading): Source[] {
  return Array.from({ length: sources }, (_, source) => {
    const own = entries.filter((_, index) => index % sources === source);
    const keys = own.map((entry) => positionOf(entry, by));
    const firstFrom = (key: string) => {
      let [low, high] = [0, keys.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((keys[middle] ?? "") < key) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    return async ({ from, after, before }, limit, descending) => {
      reading.queries++;
      reading.now++;
      reading.atOnce = Math.max(reading.atOnce, reading.now);
      await null;
      reading.now--;
      const low = from === undefined ? (after === undefined ? 0 : firstFrom(`${after}\u0000`)) : firstFrom(from);
      const high = before === undefined ? keys.length : firstFrom(before);
      const count = Math.max(0, Math.min(limit, high - low));
      reading.entries += count;
      const items = descending ? own.slice(Math.max(low, high - limit), high).reverse() : own.slice(low, low + count);
      return { items: high > low ? items : [], more: high - low >= limit };
    };
  });
}

interface Found {
  readonly id: string;
  readonly position: string;
}

async function page(
  sources: readonly Source[],
  by: Order,
  after: string | undefined,
  isMatch: (entry: Item) => boolean,
  options: { wanted: number; isLate?: () => boolean },
) {
  const match = async (entries: readonly Item[]): Promise<Found[]> =>
    entries.filter(isMatch).map((entry) => ({ id: entry.pk, position: positionOf(entry, by) }));
  return search({ sources, order: by, range: toRange(by, {}, after), match, isLate: () => false, ...options });
}

const newReading = (): Reading => ({ queries: 0, entries: 0, now: 0, atOnce: 0 });

describe("a search", () => {
  // @contract runs.page.not-empty: A page with a next page is not empty.
  it("finds each match in order and once, page by page, for any density of runs and matches and any stop", async () => {
    await fc.assert(
      fc.asyncProperty(
        bursts,
        orders,
        fc.constantFrom(1, 2, 3, 50, 997, 100_000),
        fc.constantFrom(1, 2, 3),
        fc.constantFrom(2, 21, 501),
        fc.integer({ min: 1, max: 12 }),
        async (all, by, everyNth, count, wanted, rounds) => {
          const entries = listEntries(all, by);
          const isMatch = (entry: Item) => Number(entry["number"]) % everyNth === 0;
          const expected = (by.descending ? entries.toReversed() : entries).filter(isMatch).map(({ pk }) => pk);
          const sources = createSources(entries, count, by, newReading());
          const seen: string[] = [];
          let after: string | undefined;
          // Few pages, so that the walk is short; the last page takes all the rest.
          for (let number = 0; ; number++) {
            let left = number < 4 ? rounds : Number.POSITIVE_INFINITY;
            const isLate = () => left-- <= 0;
            const most = number < 8 ? wanted : entries.length + 1;
            const { found, stoppedAt } = await page(sources, by, after, isMatch, { wanted: most, isLate });
            seen.push(...found.map(({ id }) => id));
            after = found.length >= most ? found.at(-1)?.position : stoppedAt;
            if (after === undefined) break;
          }
          expect(seen).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  });

  it("reads once where its time is over when it begins, so that its result does not look complete", async () => {
    const by = order("created_at", true);
    const entries = listEntries([{ runs: 1_000, everyMs: 1_000, pauseMs: 0 }], by);
    const sources = createSources(entries, 1, by, newReading());
    const late = { wanted: 21, isLate: () => true };
    const { found, stoppedAt } = await page(sources, by, undefined, (entry) => entry["number"] === 0, late);
    expect(found).toEqual([]);
    expect(stoppedAt).toBeDefined();
  });

  const even = listEntries([{ runs: 50_000, everyMs: 1_000, pauseMs: 0 }], order("updated_at", true));
  const every = (nth: number) => (entry: Item) => Number(entry["number"]) % nth === 0;

  it.each([
    [1, 21],
    [2, 65],
    [10, 400],
    [100, 6_000],
  ])("reads little more than it returns if one of %i matches: for 21 at most %i entries", async (nth, most) => {
    for (const by of [order("updated_at", true), order("updated_at", false)]) {
      const reading = newReading();
      const { found } = await page(createSources(even, 1, by, reading), by, undefined, every(nth), { wanted: 21 });
      expect(found).toHaveLength(21);
      expect(reading.entries).toBeLessThanOrEqual(most);
    }
  });

  it("is not slowed by first entries that all match", async () => {
    for (const by of [order("updated_at", true), order("updated_at", false)]) {
      const reading = newReading();
      const edge = (entry: Item) => [0, 1, 2].some((far) => [far, 49_999 - far].includes(Number(entry["number"])));
      const { found } = await page(createSources(even, 1, by, reading), by, undefined, edge, { wanted: 4 });
      expect(found).toHaveLength(4);
      expect(reading.queries).toBeLessThanOrEqual(85);
    }
  });

  it("reads no entry twice, and segments concurrently, if nothing matches", async () => {
    const reading = newReading();
    const by = order("updated_at", true);
    const { found, stoppedAt } = await page(createSources(even, 1, by, reading), by, undefined, () => false, {
      wanted: 21,
    });
    expect({ found, stoppedAt }).toEqual({ found: [], stoppedAt: undefined });
    expect(reading.entries, "and one to know how far they reach").toBe(even.length + 1);
    expect(reading.atOnce).toBe(8);
    expect(reading.queries).toBeLessThanOrEqual(75);
  });

  it("reads most of a year's few runs next to a busy day as fast", async () => {
    const all = [
      { runs: 300, everyMs: 86_400_000, pauseMs: 0 },
      { runs: 20_000, everyMs: 1_000, pauseMs: 0 },
    ];
    for (const by of [order("updated_at", true), order("updated_at", false)]) {
      const entries = listEntries(all, by);
      const reading = newReading();
      await page(createSources(entries, 1, by, reading), by, undefined, () => false, { wanted: 21 });
      expect(reading.entries).toBe(entries.length + 1);
      expect(reading.queries).toBeLessThanOrEqual(120);
    }
  });
});

describe("createBatchSizer", () => {
  /** The rounds of a search by `sortBy`, of which each part read entries over so many milliseconds, and that found so many in all. */
  function listRounds(
    sortBy: Order["sortBy"],
    wanted: number,
    rounds: readonly { readonly parts: readonly (readonly [number, number])[]; readonly found: number }[],
  ): readonly Round[] {
    const sizer = createBatchSizer({ sortBy, descending: true }, wanted);
    const sizes = [sizer.round()];
    for (const { parts, found } of rounds) {
      for (const [entries, milliseconds] of parts) sizer.note(entries, milliseconds);
      sizer.next(found);
      sizes.push(sizer.round());
    }
    return sizes;
  }
  const whole = (entries: number, width: number): Round => ({ segments: 1, width, entries });
  const divided = (segments: number, width: number): Round => ({ segments, width, entries: 2_000 });

  it("reads what the rate of matches in the last round predicts and a fifth more, at most four times as much", () => {
    const rounds = listRounds("created_at", 21, [
      { parts: [[21, 21_000]], found: 7 },
      {
        parts: [
          [20, 20_000],
          [8, 8_000],
        ],
        found: 7,
      },
      { parts: [[100, 10_000]], found: 8 },
      { parts: [[100, 100_000]], found: 20 },
    ]);
    // 1.2 * 14 * 21 / 7, four times that without a match, four times that with few, and 1.2 * 1 * 100 / 12.
    expect(rounds).toEqual([
      whole(21, 0),
      whole(51, 1_000_000),
      whole(204, 1_000_000),
      whole(816, 100_000),
      whole(10, 400_000),
    ]);
  });

  it("reads at least the number of missing runs", () => {
    expect(
      listRounds("updated_at", 10, [
        { parts: [[0, 0]], found: 0 },
        { parts: [[1, 1_000]], found: 9 },
      ]),
    ).toEqual([whole(10, 0), whole(40, 1), whole(1, 4)]);
  });

  it("divides a time into segments of a thousand entries, eight at most", () => {
    const rounds = listRounds("created_at", 500, [
      { parts: [[500, 5_000]], found: 0 },
      {
        parts: [
          [1_000, 10_000],
          [1_000, 10_000],
        ],
        found: 0,
      },
      { parts: [[8_000, 80_000]], found: 0 },
      { parts: [[8_000, 800_000]], found: 0 },
      { parts: [[8_000, 0]], found: 0 },
    ]);
    expect(rounds).toEqual([
      whole(500, 0),
      divided(2, 10_000),
      divided(8, 10_000),
      divided(8, 10_000),
      divided(8, 40_000),
      divided(8, 1),
    ]);
  });

  it.each(["title", "agent"] as const)("reads a list by %s as a whole", (sortBy) => {
    const none = { parts: [[500, 0]], found: 0 } as const;
    const entries = listRounds(sortBy, 500, [none, none, none]).map((round) => [round.segments, round.entries]);
    expect(entries).toEqual([
      [1, 500],
      [1, 2_000],
      [1, 8_000],
      [1, 8_000],
    ]);
  });
});
