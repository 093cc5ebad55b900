import { beforeEach, describe, expect, it } from "vitest";
import type { Filters } from "#shared/runs/listing/filters.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun } from "../../support/execution.ts";
import { ORDERS, walk } from "../../support/listing.ts";

let plane: TestControlPlane;
let root: string;
/** The descendants of the root, oldest first: the last one is a child of the first. */
let made: string[];
beforeEach(async () => {
  plane = await createTestControlPlane();
  root = await createRun(plane, { prompt: "root" });
  made = [];
  for (const title of ["c", "a", "b", "d"]) {
    plane.clock.now += 1;
    const parent = title === "d" ? made[0] : root;
    made.push(await createRun(plane, { prompt: "p", title, skill: `o/r:${title}`, parent_run_id: parent }));
  }
});

const inOrder = (indexes: readonly number[], descending: boolean): (string | undefined)[] =>
  (descending ? indexes.toReversed() : indexes).map((index) => made[index]);

describe("the descendants of a run", () => {
  it.each(ORDERS)("are each listed once by %o, for any page size", async (order) => {
    const byText = order.sortBy === "title" || order.sortBy === "agent";
    const expected = inOrder(byText ? [1, 2, 0, 3] : [0, 1, 2, 3], order.descending);
    for (const limit of [1, 3, 4, 5]) {
      const found = await walk(plane, { order, limit, filters: { ancestorRunId: root } });
      expect(found, `limit ${limit}`).toEqual(expected);
    }
  });

  it.each(ORDERS)("are filtered by %o", async (order) => {
    const list = (filters: Filters) => walk(plane, { order, limit: 1, filters: { ancestorRunId: root, ...filters } });
    expect(await list({ skillSpec: "o/r:a" })).toEqual([made[1]]);
    expect(await list({ name: "d", states: ["QUEUED"] })).toEqual([made[3]]);
    expect(await list({ createdBefore: new Date(plane.clock.now - 2).toISOString() })).toEqual([made[0]]);
    expect(await list({ createdAfter: new Date(plane.clock.now - 1).toISOString() })).toEqual([made[3]]);
    for (const none of [{ name: "none" }, { source: "CLI" }, { states: ["FAILED"] }, { q: "zebra" }] as const) {
      expect(await list(none), JSON.stringify(none)).toEqual([]);
    }
  });

  it.each([true, false])(
    "are last by agent if they have no skill, as in a list of active runs (descending: %j)",
    async (descending) => {
      const id = await createRun(plane, { prompt: "p", parent_run_id: root });
      const order = { sortBy: "agent", descending } as const;
      const skilled = inOrder([1, 2, 0, 3], descending);
      for (const limit of [1, 2, 5]) {
        expect(await walk(plane, { order, limit, filters: { ancestorRunId: root } })).toEqual([...skilled, id]);
        const active = await walk(plane, { order, limit, filters: { states: ["QUEUED"] } });
        expect(active).toEqual([...skilled, ...(descending ? [id, root] : [root, id])]);
      }
    },
  );

  it.each(ORDERS)("are skipped by %o if they no longer exist", async (order) => {
    const gone = order.descending ? [2, 3] : [0, 1];
    for (const id of gone.map((index) => made[index] ?? "")) {
      for (const key of [keys.head(id), keys.body(id)]) await plane.table.write({ kind: "delete", key });
    }
    const left = [0, 1, 2, 3].filter((index) => !gone.includes(index)).map((index) => made[index]);
    const found = await walk(plane, { order, limit: 1, filters: { ancestorRunId: root } });
    expect(found.toSorted()).toEqual(left.toSorted());
  });

  it.each(["", "&state=QUEUED", "&sort_by=created_at", "&sort_by=created_at&state=QUEUED", "&sort_by=title"])(
    "are only those in the named team with%s",
    async (query) => {
      const { key } = await plane.person("Mia", [plane.team, plane.otherTeam]);
      const list = async (team: string) => {
        const target = `/agent/runs?ancestor_run_id=${root}${query}`;
        const { status, body } = await createClient(plane, key).get(target, { headers: { "x-team-uid": team } });
        expect(status).toBe(200);
        return body.runs.length;
      };
      expect(await list(plane.team)).toBe(4);
      expect(await list(plane.otherTeam)).toBe(0);
    },
  );
});
