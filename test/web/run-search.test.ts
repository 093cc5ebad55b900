import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import { activeFilters, isFiltered, NO_FILTERS, RunSearch, toListParams } from "../../web/runs/run-search.ts";

afterEach(() => vi.unstubAllEnvs());

/** The filters of an address. */
const parse = (address: object): RunSearch => v.parse(RunSearch, address);

describe("toListParams", () => {
  const sort_by = "created_at";
  it.each<[object, object]>([
    [{}, {}],
    [{ view: "all" }, {}],
    [{ view: "mine" }, { creator: "me" }],
    [{ view: "mine", creator: "other" }, { creator: "other" }],
    [{ view: "active" }, { state: ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"] }],
    [{ view: "failed" }, { state: ["FAILED", "ERROR"] }],
    [{ view: "needs-you" }, { state: ["BLOCKED"] }],
    [{ view: "failed", state: "BLOCKED" }, { state: ["BLOCKED"] }],
    [{ state: "ERROR,BLOCKED,RUNNING" }, { state: ["ERROR", "BLOCKED"] }],
    [{ agent: "a-1" }, { executor: "a-1" }],
    [
      { schedule: "s-1", trigger: "t-1" },
      { schedule_id: "s-1", trigger_id: "t-1" },
    ],
    [{ metadata: "ticket=SHOP-1\nteam = web" }, { metadata: { ticket: "SHOP-1", team: "web" } }],
    [{ view: "scheduled" }, { source: ["SCHEDULED_AGENT"] }],
    [{ view: "scheduled", source: "CLI" }, { source: ["CLI"] }],
    [{ q: "flaky" }, { q: "flaky" }],
    [{ environment: "env-1" }, { environment_id: "env-1" }],
    [{ skill: "acme/shop:notes" }, { skill: "acme/shop:notes" }],
    [{ model: "openai/x" }, { model_id: "openai/x" }],
    [{ archived: "all" }, { archived: "all" }],
    [{ archived: "only" }, { archived: "true" }],
    [{ archived: "false" }, {}],
    [{ view: "some", q: "", state: "RUNNING", after: "2026-05-18 10:00", before: "18.5.2026" }, {}],
  ])("converts %j to %j", (address, params) => {
    expect(toListParams(parse(address), "me")).toEqual({ sort_by, ...params });
  });

  it.each([
    ["UTC", "2026-05-17T23:59:59.999Z", "2026-05-21T00:00:00.000Z"],
    ["America/New_York", "2026-05-18T03:59:59.999Z", "2026-05-21T04:00:00.000Z"],
    ["Asia/Kolkata", "2026-05-17T18:29:59.999Z", "2026-05-20T18:30:00.000Z"],
  ])("includes the first and the last day as they are in the zone %s", (zone, created_after, created_before) => {
    vi.stubEnv("TZ", zone);
    const search = parse({ after: "2026-05-18", before: "2026-05-20" });
    expect(toListParams(search, "me")).toEqual({ sort_by, created_after, created_before });
  });

  it("takes a day of the month after for the last day of a month", () => {
    vi.stubEnv("TZ", "UTC");
    expect(toListParams(parse({ before: "2026-12-31" }), "me")).toEqual({
      sort_by,
      created_before: "2027-01-01T00:00:00.000Z",
    });
  });
});

it("activeFilters lists the filters that are set, without the quick filter and the search", () => {
  const search = { view: "mine", q: "flaky", state: "FAILED", before: "2026-05-20", model: "openai/x" };
  expect(activeFilters(parse(search))).toEqual(["state", "model", "before"]);
  expect(activeFilters(parse({ source: "CLI", creator: "a", environment: "b", skill: "c", after: "d" }))).toEqual([
    "source",
    "creator",
    "environment",
    "skill",
    "after",
  ]);
});

it("NO_FILTERS removes whatever selects among the runs", () => {
  const search = parse({ view: "mine", q: "flaky", state: "FAILED", metadata: "a=b", archived: "all" });
  expect([isFiltered(search), isFiltered({ ...search, ...NO_FILTERS }), isFiltered(parse({}))]).toEqual([
    true,
    false,
    false,
  ]);
});
