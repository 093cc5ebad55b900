import { describe, expect, it } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import type { RunState } from "#shared/wire/run.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { storeRuns, walk } from "../../support/listing.ts";

/** Stores runs of the team, one per millisecond, and returns their ids, newest first. */
async function store(plane: TestControlPlane, count: number, state: RunState): Promise<string[]> {
  const ids: string[] = [];
  const owner = { type: "Team", uid: plane.team } as const;
  for (let number = 0; number < count; number++) {
    plane.clock.now += 1;
    const [createdAt, updatedAt] = [plane.clock.now, plane.clock.now];
    const runId = uuidv7(createdAt);
    const body = { title: String(number).padStart(4, "0") };
    await storeRuns(plane.table, [{ runId, owner, createdAt, updatedAt, state, body }]);
    ids.unshift(runId);
  }
  return ids;
}

describe("with more than a thousand active runs", () => {
  it("lists all of them by title, also with a filter for active runs only", async () => {
    const plane = await createTestControlPlane();
    const ids = await store(plane, 1_001, "QUEUED");
    const order = { sortBy: "title", descending: true } as const;
    expect(await walk(plane, { order, limit: 500, filters: { states: ["QUEUED"] } })).toEqual(ids);
  });

  it("cancels a thousand of them per call, newest first, and reports whether there are more", async () => {
    const plane = await createTestControlPlane();
    const ids = await store(plane, 1_000, "PENDING");
    const send = async (key: string) =>
      (await createClient(plane, key).post("/agent/runs/cancel", { filter: { state: ["PENDING"] } })).body;
    const { key: agent } = await plane.agent();
    expect(await send(plane.key)).toMatchObject({ matched: 1_000, cancelled: 0, has_more: false });
    ids.unshift(...(await store(plane, 1, "PENDING")));
    for (const key of [plane.key, agent]) {
      const { refused, ...more } = await send(key);
      expect(more).toEqual({ matched: 1_000, cancelled: 0, has_more: true, next_cursor: expect.any(String) });
      expect(refused.map(({ run_id }: { run_id: string }) => run_id)).toEqual(ids.slice(0, 1_000));
    }
  });
});
