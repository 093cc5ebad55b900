import { describe, expect, it } from "vitest";
import type { Filters } from "#shared/runs/listing/filters.ts";
import type { SortBy, Source } from "#shared/runs/listing/order.ts";
import { needsSearch, searchSources } from "#shared/runs/listing/search-sources.ts";
import { listTags } from "#shared/runs/run-facets.ts";
import type { RunCriteria, RunRange } from "#shared/table/run-search.ts";

const TIME = "2026-05-18T19:00:00.000Z";
const ORDERS = ["updated_at", "created_at", "title", "agent"] as const satisfies readonly SortBy[];

describe("needsSearch", () => {
  it.each<readonly [Filters, readonly SortBy[]]>([
    [{}, []],
    [{ states: ["QUEUED"] }, []],
    [{ states: ["QUEUED", "FAILED"] }, ORDERS],
    [{ states: ["QUEUED"], creator: "c" }, ORDERS],
    [{ states: ["QUEUED"], scheduleId: "s" }, ORDERS],
    [{ creator: "c", scheduleId: "s" }, ORDERS],
    [{ creator: "c" }, ["title", "agent"]],
    [{ scheduleId: "s" }, ["title", "agent"]],
    [{ createdAfter: TIME }, ["title", "agent"]],
    [{ createdBefore: TIME }, ["updated_at", "title", "agent"]],
    [{ updatedAfter: TIME }, ["created_at", "title", "agent"]],
    [{ name: "n" }, ORDERS],
    [{ name: undefined, creator: undefined, states: undefined, createdBefore: undefined }, []],
    [{ q: "" }, ORDERS],
    [{ metadata: {} }, ORDERS],
  ])("of %j is true in the orders %j", (filters, expected) => {
    const orders = ORDERS.filter((sortBy) => needsSearch({ sortBy, descending: true }, filters));
    expect(orders).toEqual(expected);
  });
});

describe("searchSources", () => {
  /** The sources of two scopes, and the criteria and ranges that they search. */
  function createSources(sortBy: SortBy, filters: Filters) {
    const prepared: RunCriteria[] = [];
    const ranges: RunRange[] = [];
    const sources = searchSources(["A", "B"], { sortBy, descending: true }, filters, {
      prepare(criteria) {
        prepared.push(criteria);
        return async (range) => {
          ranges.push(range);
          return { items: [], more: false };
        };
      },
    });
    return { sources, prepared, ranges };
  }
  const criteriaOf = (filters: Filters, sortBy: SortBy = "created_at") => createSources(sortBy, filters).prepared[0];

  it("searches only what the filters allow: times after a bound begin with the next millisecond", () => {
    expect(criteriaOf({ createdAfter: TIME, createdBefore: TIME, updatedAfter: TIME, states: ["FAILED"] })).toEqual({
      sortKey: "created_key",
      terms: [],
      words: [],
      states: ["FAILED"],
      createdFrom: "019e3c75-9781",
      createdBefore: "019e3c75-9780",
      updatedFrom: "1779130800001",
    });
    expect(criteriaOf({ name: "n", q: "one two" }, "title")).toEqual({
      ...{ sortKey: "title_key", terms: ["name=n"], words: [expect.any(Function), expect.any(Function)] },
      ...{ states: undefined, createdFrom: undefined, createdBefore: undefined, updatedFrom: undefined },
    });
  });

  it("searches for each source, and for the trigger and the metadata that automation_id may mean", () => {
    const search = (filters: Filters) => createSources("created_at", filters).prepared.map(({ terms }) => terms);
    expect(search({ source: ["CLI", "API", "CLI"], name: "n" })).toEqual([
      ["name=n", "source=CLI"],
      ["name=n", "source=API"],
    ]);
    expect(search({ triggerId: "t" })).toEqual([["trigger=t"]]);
    expect(search({ automationId: "a", metadata: { b: "c" } })).toEqual([
      [`tag=${listTags({ b: "c" })}`, "trigger=a"],
      listTags({ b: "c", automation_id: "a" }).map((tag) => `tag=${tag}`),
    ]);
    expect(createSources("created_at", { source: ["CLI", "API"], automationId: "a" }).sources).toHaveLength(8);
  });

  it("searches no time before 1970", () => {
    const early = "1960-01-01T00:00:00Z";
    expect(criteriaOf({ createdAfter: early, createdBefore: early, updatedAfter: early })).toMatchObject({
      createdFrom: "00000000-0000",
      createdBefore: "00000000-0000",
      updatedFrom: "0000000000000",
    });
  });

  it("searches nothing for a text without words", () => {
    const { sources, prepared } = createSources("created_at", { q: "!?" });
    expect({ sources, prepared }).toEqual({ sources: [], prepared: [] });
  });

  const readAll = async (sources: readonly Source[]) => {
    for (const source of sources) await source({ from: "0#", before: "1#x" }, 5, true);
  };

  it("prepares one search, and reads a range of each scope", async () => {
    const { sources, prepared, ranges } = createSources("title", { name: "n" });
    await readAll(sources);
    expect(prepared).toHaveLength(1);
    const range = { from: "0#", before: "1#x", descending: true, limit: 5 };
    expect(ranges).toEqual([
      { ...range, scope: "A" },
      { ...range, scope: "B" },
    ]);
  });

  it("reads the halves of the order by agent", async () => {
    const { sources, ranges } = createSources("agent", { name: "n" });
    await readAll(sources.slice(0, 1));
    const range = { scope: "A", descending: true, limit: 5 };
    expect(ranges).toEqual([{ ...range, from: "1#", before: "1#x" }]);
  });
});
