import { describe, expect, it } from "vitest";
import type { Filters } from "#shared/runs/listing/filters.ts";
import { KEY_OF, type Range, type SortBy } from "#shared/runs/listing/order.ts";
import { chooseSources, toRange } from "#shared/runs/listing/sources.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item, Page, Query, Table } from "#shared/table/table.ts";
import type { RunState } from "#shared/wire/run.ts";

const TIME = "2026-05-18T19:00:00.000Z";
const ROOT = "019e3c75-9780-7b78-8a54-7a196032b69c";
const ACTIVE: Filters = { states: ["QUEUED", "INPROGRESS"] };
const ENDED: Filters = { states: ["FAILED"] };

/** Chooses the sources of scope A, reads the first entries of each, and returns what was read. */
async function choose(
  sortBy: SortBy,
  filters: Filters,
  { page = { items: [], more: false }, table = memoryTable() }: { page?: Page; table?: Table } = {},
) {
  const reads: string[] = [];
  const query = async ({ index, pk, limit }: Query): Promise<Page> => {
    // The active runs of a scope have several parts, all of which are read.
    if (!/#ACTIVE#\d+$/.test(pk)) reads.push(`${limit} of ${index ?? "table"} ${pk}`);
    return page;
  };
  const ports = { table, runs: { ...runStore(table), query } };
  const order = { sortBy, descending: true };
  const { sources, open } = await chooseSources(["A"], order, filters, ports);
  for (const source of sources) await source({}, 5, true);
  return { reads, sources, open };
}

describe("chooseSources", () => {
  it.each<readonly [SortBy, Filters, readonly string[]]>([
    ["created_at", {}, ["5 of gsi2 A"]],
    ["created_at", ENDED, ["5 of gsi2 A"]],
    ["created_at", { createdBefore: TIME }, ["5 of gsi2 A"]],
    ["created_at", { creator: "c" }, ["5 of gsi2 A#CREATOR#c"]],
    ["created_at", { creator: "c", scheduleId: "s" }, ["5 of gsi2 A#SCHEDULE#s"]],
    ["created_at", ACTIVE, ["5 of gsi5 A"]],
    ["created_at", { ...ACTIVE, creator: "c" }, ["5 of gsi5 A"]],
    ["updated_at", {}, ["5 of gsi1 A#ACTIVE", "5 of gsi1 A#ENDED"]],
    ["updated_at", { createdAfter: TIME }, ["5 of gsi1 A#ACTIVE", "5 of gsi1 A#ENDED"]],
    ["updated_at", { states: ["QUEUED", "FAILED"] }, ["5 of gsi1 A#ACTIVE", "5 of gsi1 A#ENDED"]],
    ["updated_at", ACTIVE, ["5 of gsi1 A#ACTIVE"]],
    ["updated_at", { ...ACTIVE, createdBefore: TIME }, ["5 of gsi1 A#ACTIVE"]],
    ["updated_at", ENDED, ["5 of gsi1 A#ENDED"]],
    ["updated_at", { creator: "c" }, ["5 of gsi1 A#ACTIVE", "5 of gsi7 A#CREATOR#c"]],
    ["updated_at", { ...ENDED, scheduleId: "s" }, ["5 of gsi7 A#SCHEDULE#s"]],
    ["updated_at", { createdBefore: TIME }, ["1000 of gsi2 A"]],
    ["updated_at", { createdBefore: TIME, creator: "c" }, ["1000 of gsi2 A#CREATOR#c"]],
    ["title", {}, ["5 of gsi3 A"]],
    ["title", { creator: "c" }, ["5 of gsi3 A"]],
    ["title", ENDED, ["5 of gsi3 A"]],
    ["title", ACTIVE, ["1000 of gsi5 A"]],
    ["title", { createdAfter: TIME }, ["1000 of gsi2 A"]],
    ["title", { createdBefore: TIME, scheduleId: "s" }, ["1000 of gsi2 A#SCHEDULE#s"]],
    ["agent", {}, ["5 of gsi4 A", "5 of gsi4 A"]],
    ["agent", ACTIVE, ["1000 of gsi5 A"]],
    ["agent", { createdAfter: TIME }, ["1000 of gsi2 A"]],
    ["created_at", { ancestorRunId: ROOT, ...ACTIVE }, [`5 of table RUN#${ROOT}`]],
    ["title", { ancestorRunId: ROOT }, [`1000 of table RUN#${ROOT}`]],
  ])("for a list by %s with the filters %j reads %j", async (sortBy, filters, expected) => {
    const { reads } = await choose(sortBy, filters);
    expect(reads).toEqual(expected);
  });

  it.each<readonly [SortBy, Filters, readonly string[]]>([
    ["title", ACTIVE, ["1000 of gsi5 A", "5 of gsi3 A"]],
    ["agent", { createdBefore: TIME }, ["1000 of gsi2 A", "5 of gsi4 A"]],
    ["updated_at", { createdBefore: TIME }, ["1000 of gsi2 A", "5 of gsi1 A#ACTIVE", "5 of gsi1 A#ENDED"]],
    ["updated_at", { ...ENDED, createdBefore: TIME }, ["1000 of gsi2 A", "5 of gsi1 A#ENDED"]],
    ["title", { ancestorRunId: ROOT }, [`1000 of table RUN#${ROOT}`, "5 of gsi3 A"]],
  ])(
    "for a list by %s with the filters %j of more runs than are sorted in memory reads %j",
    async (sortBy, filters, expected) => {
      const { reads, open } = await choose(sortBy, filters, { page: { items: [], more: true } });
      expect(reads).toEqual(expected);
      expect(open).toEqual(filters);
    },
  );

  it.each(["created_at", "title"] as const)(
    "by %s leaves the filters open except for the ancestor whose descendants are read",
    async (sortBy) => {
      const { open } = await choose(sortBy, { ancestorRunId: ROOT, name: "n" });
      expect(open).toEqual({ name: "n", ancestorRunId: undefined });
      expect((await choose(sortBy, { ...ACTIVE, name: "n" })).open).toEqual({ ...ACTIVE, name: "n" });
    },
  );
});

describe("runs that are sorted in memory", () => {
  async function readSorted(sortBy: SortBy, positions: readonly string[]) {
    const table = memoryTable();
    const items = positions.map((position): Item => ({ ...keys.head(`run ${position}`), [KEY_OF[sortBy]]: position }));
    // The last one does not exist any more.
    for (const item of items.slice(0, -1)) await table.write({ kind: "put", item });
    const { sources } = await choose(sortBy, ACTIVE, { page: { items, more: false }, table });
    expect(sources).toHaveLength(1);
    return async (range: Range, limit: number, descending: boolean) => {
      const page = await sources[0]?.(range, limit, descending);
      return [page?.items.map((item) => item[KEY_OF[sortBy]]), page?.more];
    };
  }

  it("are read within bounds in both directions", async () => {
    const read = await readSorted("title", ["c", "a", "d", "b", "gone"]);
    const all = { range: {}, limit: 9 };
    const cases = [
      [{ ...all }, ["a", "b", "c", "d"], false],
      [{ ...all, limit: 4 }, ["a", "b", "c", "d"], false],
      [{ ...all, limit: 3 }, ["a", "b", "c"], true],
      [{ ...all, range: { from: "b" } }, ["b", "c", "d"], false],
      [{ ...all, range: { after: "b" } }, ["c", "d"], false],
      [{ ...all, range: { before: "c" } }, ["a", "b"], false],
      [{ ...all, range: { from: "b", before: "d" } }, ["b", "c"], false],
    ] as const;
    for (const [{ range, limit }, found, more] of cases) {
      expect(await read(range, limit, false), JSON.stringify({ range, limit })).toEqual([found, more]);
    }
    expect(await read({ before: "d" }, 2, true)).toEqual([["c", "b"], true]);
  });

  it("are read by agent with a skill first in both directions", async () => {
    const read = await readSorted("agent", ["1#", "0#b", "0#a", "gone"]);
    expect(await read({}, 9, true)).toEqual([["0#b", "0#a", "1#"], false]);
    expect(await read({}, 9, false)).toEqual([["0#a", "0#b", "1#"], false]);
  });
});

describe("toRange", () => {
  const [EARLIER, LATER] = ["2026-05-18T18:59:59.999Z", "2026-05-18T19:00:00.001Z"];
  const both: Filters = { createdAfter: EARLIER, updatedAfter: TIME, createdBefore: LATER };
  const states: readonly RunState[] = ["QUEUED"];

  it.each<readonly [SortBy, boolean, Filters, string | undefined, Range]>([
    ["created_at", true, { states }, undefined, {}],
    ["created_at", true, both, undefined, { from: "019e3c75-977f", before: "019e3c75-9782" }],
    ["created_at", true, both, "019e3c75-9780-x", { from: "019e3c75-977f", before: "019e3c75-9780-x" }],
    ["created_at", false, both, "019e3c75-9780-x", { after: "019e3c75-9780-x", before: "019e3c75-9782" }],
    ["updated_at", true, both, undefined, { from: "1779130800000" }],
    ["updated_at", true, { ...both, updatedAfter: EARLIER, createdAfter: LATER }, undefined, { from: "1779130800001" }],
    ["updated_at", false, { createdBefore: TIME }, undefined, {}],
    ["updated_at", false, { createdAfter: "1960-01-01T00:00:00Z" }, undefined, { from: "0000000000000" }],
    ["created_at", false, { updatedAfter: TIME }, undefined, {}],
    ["title", true, both, "m", { before: "m" }],
    ["agent", false, both, "0#m", { after: "0#m" }],
    ["title", true, both, undefined, {}],
  ])(
    "of a list by %s (descending: %j) with the filters %j after %j is %j",
    (sortBy, descending, filters, after, range) => {
      expect(toRange({ sortBy, descending }, filters, after)).toEqual(range);
    },
  );
});
