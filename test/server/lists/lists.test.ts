import { describe, expect, it } from "vitest";
import type { Database } from "#server/database/database.ts";
import { rebuildRunIndex } from "#server/table/rebuild-run-index.ts";
import { sqliteRunSearch } from "#server/table/run-search.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";
import { uuidv7 } from "#shared/ids.ts";
import { deletionStore } from "#shared/retention/deletion-store.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { listContract } from "../../support/list-contract.ts";
import { listWalkContract } from "../../support/list-walk-contract.ts";
import { storeRuns, walk } from "../../support/listing.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
const NEWEST = { sortBy: "created_at", descending: true } as const;

/** A control plane with the table and the search index of the single machine. Its limits are reached by few runs. */
async function createPlane(database: Database) {
  const plane = await createTestControlPlane({ ...sqliteTable(database), all: () => [] });
  Object.assign(plane.ports, { search: sqliteRunSearch(database, { maxSorted: 4, firstRows: 3 }) });
  return plane;
}

/** Creates control planes with teams of their own in one database. */
function planesOfOneDatabase() {
  let database: Database | undefined;
  return () => {
    database ??= data.open();
    return createPlane(database);
  };
}

describe("a list of runs in SQLite", () => {
  listContract(planesOfOneDatabase());
});

describe("reading a list page by page in SQLite", () => {
  listWalkContract(async () => createPlane(data.open()), 3);
});

describe("the search index of runs", () => {
  const filters = { q: "xylphone", name: "nightly", metadata: { team: "red" } };

  it("finds the only match behind more runs than are sorted at once, and pages through many of them", async () => {
    const database = data.open();
    const plane = await createPlane(database);
    const start = plane.clock.now;
    const runs = Array.from({ length: 60 }, (_, number) => ({
      runId: uuidv7(start + number),
      owner: { type: "Team" as const, uid: plane.team },
      ...{ createdAt: start + number, updatedAt: start + number, state: "QUEUED" as const },
      body: {
        title: number === 0 ? "Tune the Xylophone" : "Tune the piano",
        prompt: number === 1 ? "once" : "please",
        config: { name: number < 40 ? "nightly" : "weekly" },
        metadata: { team: "red" },
      },
    }));
    await storeRuns(plane.table, runs);
    const find = (filter: typeof filters | object, limit = 20) =>
      walk(plane, { order: NEWEST, filters: filter, limit });
    expect(await find(filters)).toEqual([runs[0]?.runId]);
    expect(await find({ q: "tune", name: "weekly" }, 9)).toHaveLength(20);
    expect(await find({ q: "tune", name: "nightly" }, 50)).toHaveLength(40);
    expect(await find({ q: "once piano", environmentId: "empty-environment" })).toEqual([runs[1]?.runId]);
    expect(await find({ q: "!?" })).toEqual([]);
    expect(await find({ name: "unknown" })).toEqual([]);
  });

  it("forgets a deleted run, whose number a later run gets", async () => {
    const database = data.open();
    const plane = await createPlane(database);
    const { now } = plane.clock;
    const owner = { type: "Team", uid: plane.team } as const;
    const times = { createdAt: now, updatedAt: now };
    const body = { title: "Tune the xylophone", config: { name: "nightly" }, metadata: { team: "red" } };
    const [first, second] = [uuidv7(now), uuidv7(now + 1)];
    await storeRuns(plane.table, [{ runId: first, owner, ...times, state: "FAILED", body }]);
    const deleted = await plane.ports.runs.headAndBody(first);
    if (deleted === undefined || !("ended_at" in deleted.head)) throw new Error("the run has not ended");
    await deletionStore(plane.table).begin(deleted.head, deleted.body);
    const countRows = (table: string) => database.statement(`SELECT count(*) AS count FROM ${table}`).get()?.["count"];
    expect([countRows("listed_runs"), countRows("run_terms")]).toEqual([0, 0]);
    await storeRuns(plane.table, [
      { runId: second, owner, ...times, state: "FAILED", body: { title: "Tune the piano" } },
    ]);
    expect(await walk(plane, { order: NEWEST, filters: { q: "tune" }, limit: 5 })).toEqual([second]);
    expect(await walk(plane, { order: NEWEST, filters, limit: 5 })).toEqual([]);
  });

  it("is made from the items of a database that lacks it", async () => {
    const database = data.open();
    const plane = await createPlane(database);
    const run = { runId: uuidv7(plane.clock.now), owner: { type: "Team" as const, uid: plane.team } };
    const times = { createdAt: plane.clock.now, updatedAt: plane.clock.now };
    const body = { title: "Tune the xylophone", config: { name: "nightly" }, metadata: { team: "red" } };
    await storeRuns(plane.table, [{ ...run, ...times, state: "FAILED", body }]);
    await database.write(() => {
      for (const table of ["run_terms", "listed_runs", "terms"]) database.statement(`DELETE FROM ${table}`).run();
    });
    expect(await walk(plane, { order: NEWEST, filters, limit: 5 })).toEqual([]);
    await rebuildRunIndex(database);
    expect(await walk(plane, { order: NEWEST, filters: { ...filters, states: ["FAILED"] }, limit: 5 })).toEqual([
      run.runId,
    ]);
  });
});
