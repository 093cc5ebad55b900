import { beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import type { ListedRun } from "../../../lab/bench/listed-run.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type CostedTable, costedTable, measureBill } from "../../support/costed-table.ts";
import { storeRuns } from "../../support/listing.ts";

/** Index entries and items that a page of 20 may read, including those for the caller's authentication. */
const PAGE = 20;
const MOST = 4 * PAGE;
const RUNS = 1_000;
/** Runs that have not ended. The lists by creator and schedule also read those of others. */
const ACTIVE = 30;
const OTHERS_ACTIVE = 8;

describe("a page of 20 from a list over a team's and the caller's own runs", () => {
  let table: CostedTable;
  let plane: TestControlPlane;
  let parent: string;

  beforeAll(async () => {
    table = costedTable();
    plane = await createTestControlPlane(table);
    const start = plane.clock.now - RUNS * 60_000;
    parent = uuidv7(start);
    const runs = Array.from({ length: RUNS }, (_, number) => createRun(number, start + number * 60_000));
    await storeRuns(table, runs);
  });

  /** A tenth of the runs is the caller's own; the latest are active, most of them the caller's by schedule. */
  function createRun(number: number, createdAt: number): ListedRun {
    const isActive = number >= RUNS - ACTIVE;
    const isOthers = isActive ? number >= RUNS - OTHERS_ACTIVE : number % 2 === 1;
    const creator = { type: "user" as const, uid: isOthers ? "someone" : plane.user };
    const schedule = { schedule_id: "schedule-1", schedule_name: "s", cron_schedule: "@daily" };
    return {
      runId: number === 0 ? parent : uuidv7(createdAt),
      owner: number % 10 === 3 && number > 0 ? { type: "User", uid: plane.user } : { type: "Team", uid: plane.team },
      createdAt,
      updatedAt: createdAt + (number % 7) * 20_000,
      state: isActive ? ((["QUEUED", "INPROGRESS"] as const)[number % 2] ?? "QUEUED") : "SUCCEEDED",
      body: {
        title: `Run ${number % 50}`,
        creator,
        executor: creator,
        ...(isOthers ? {} : { schedule }),
        ...(number > 0 && number % 10 === 0 ? { ancestors: [parent], parent_run_id: parent } : {}),
        config: number % 3 === 0 ? {} : { skill_spec: `o/r:${number % 9}` },
      },
    };
  }

  const filters: readonly [string, (plane: TestControlPlane, parent: string) => string][] = [
    ["unfiltered", () => ""],
    ["by schedule", () => "&schedule_id=schedule-1"],
    ["by creator", ({ user }) => `&creator=${user}`],
    ["by active states", () => "&state=QUEUED&state=PENDING&state=CLAIMED&state=INPROGRESS"],
  ];
  const cases = ["updated_at", "created_at"].flatMap((by) =>
    filters.map(([name, filter]) => [name, by, filter] as const),
  );
  const unfiltered = ["title", "agent"].map((by) => ["unfiltered", by, () => ""] as const);
  const ended = ["by the state of runs that have ended", "updated_at", () => "&state=SUCCEEDED"] as const;
  const family = ["by parent", "created_at", (_: TestControlPlane, id: string) => `&ancestor_run_id=${id}`] as const;

  it.each([...cases, ...unfiltered, ended, family])(
    "reads at most 80 entries and items: %s, in the order of %s",
    async (_, by, filter) => {
      for (const direction of ["desc", "asc"]) {
        let cursor = "";
        for (const page of [1, 2]) {
          const target = `/agent/runs?limit=${PAGE}&sort_by=${by}&sort_order=${direction}${filter(plane, parent)}${cursor}`;
          const { bill, result } = await measureBill(table, () => createClient(plane).get(target));
          const { runs, page_info } = result.body;
          if (page === 1) expect(runs).toHaveLength(PAGE);
          expect(runs.length).toBeGreaterThanOrEqual(5);
          expect(bill.items, `page ${page} ${direction}`).toBeLessThanOrEqual(MOST);
          cursor = `&cursor=${page_info.next_cursor}`;
        }
      }
    },
  );

  it("reads a run tree's heads once more for the other orders: twice its size and two items per returned run", async () => {
    const target = `/agent/runs?limit=${PAGE}&ancestor_run_id=${parent}`;
    for (const by of ["updated_at", "title", "agent"]) {
      const { bill, result } = await measureBill(table, () => createClient(plane).get(`${target}&sort_by=${by}`));
      expect(result.body.runs).toHaveLength(PAGE);
      expect(bill.items).toBeLessThanOrEqual(2 * 99 + 2 * PAGE + 10);
    }
  });
});
