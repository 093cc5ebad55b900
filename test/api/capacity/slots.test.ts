import { describe, expect, it } from "vitest";
import { TREE_CONCURRENCY_LIMIT } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, type Harness, workingRun } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";

const limitTo = async (plane: TestControlPlane, concurrency_limit: number): Promise<void> => {
  const response = await createClient(plane).put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit } });
  expect(response.status).toBe(200);
};
const readCounters = (plane: TestControlPlane) => plane.table.get(keys.counters({ type: "Team", uid: plane.team }));
const readStates = (plane: TestControlPlane, ids: readonly string[]) =>
  Promise.all(ids.map((id) => readState(plane, id)));

/** Returns the harnesses of all sandboxes started since `from`, after their first call. */
async function begun(plane: TestControlPlane, from: number): Promise<Harness[]> {
  const harnesses = plane.started.slice(from).map((envelope) => createHarness(plane, envelope));
  for (const harness of harnesses) await harness.resolve();
  return harnesses;
}

const child = (plane: TestControlPlane, parent: Harness): Promise<string> =>
  createRun(plane, { prompt: "part of it" }, parent.key);

describe("a run that finds no slot", () => {
  it("waits ahead of all newer runs, even when a slot is free, and the oldest run gets the next slot", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 1);
    const working = await workingRun(plane);
    plane.clock.now += 10;
    const first = await createRun(plane);
    await deliver(plane);
    await working.finish();
    // The end's message has not been processed yet, so the slot has not been granted to another run.
    plane.sent.length = 0;
    plane.clock.now += 10;
    const newcomer = await createRun(plane);
    expect((await createClient(plane).post("/agent/runs", { prompt: "a" })).body).toMatchObject({ at_capacity: true });
    await deliver(plane);
    expect(await readStates(plane, [first, newcomer])).toEqual(["PENDING", "QUEUED"]);
    expect(await readCounters(plane)).toMatchObject({ running: 1, queued: 2, waiting: 2 });
  });

  it("gets the slot of a run that ends, and leaves the wait queue when it is cancelled", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 1);
    const working = await workingRun(plane);
    const waiting: string[] = [];
    for (let index = 0; index < 3; index++) {
      plane.clock.now += 10;
      waiting.push(await createRun(plane));
    }
    await deliver(plane);
    const [cancelled = "", next = "", last = ""] = waiting;
    await createClient(plane).post(`/agent/runs/${cancelled}/cancel`);
    expect(await readCounters(plane)).toMatchObject({ running: 1, queued: 2, waiting: 2 });
    await working.finish();
    await deliver(plane);
    expect(await readStates(plane, [cancelled, next, last])).toEqual(["CANCELLED", "PENDING", "QUEUED"]);
  });

  it("is dispatched eventually even if the message that grants its slot is lost", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 1);
    const working = await workingRun(plane);
    const waiting = await createRun(plane);
    await deliver(plane);
    await working.finish();
    await deliver(plane, "ends");
    plane.sent.length = 0;
    expect(await readState(plane, waiting)).toBe("QUEUED");
    expect(await readCounters(plane)).toMatchObject({ running: 1, queued: 1, waiting: 0 });
    plane.clock.now += 30_000;
    await reap(plane);
    await deliver(plane);
    expect(await readState(plane, waiting)).toBe("PENDING");
    expect(await readCounters(plane)).toMatchObject({ running: 1, queued: 0, waiting: 0 });
  });

  it("frees its slot if it is cancelled between grant and start", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 1);
    const working = await workingRun(plane);
    const waiting = await createRun(plane);
    await deliver(plane);
    await working.finish();
    await deliver(plane, "ends");
    await createClient(plane).post(`/agent/runs/${waiting}/cancel`);
    expect(await readCounters(plane)).toMatchObject({ running: 0, queued: 0, waiting: 0 });
  });
});

describe("a burst of one team", () => {
  it("starts no more runs before another team's than it has slots", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 5);
    for (let index = 0; index < 200; index++) await createRun(plane);
    const other = await createRun(plane, { prompt: "hello" }, plane.otherKey);
    // Processes the queue in message order, without the fairness of SQS.
    await deliver(plane);
    const started = plane.started.map(({ run_id }) => run_id);
    expect(started.indexOf(other)).toBe(5);
    expect(started).toHaveLength(6);
    expect(await readCounters(plane)).toMatchObject({ running: 5, queued: 195, waiting: 195 });
  });
});

describe("a run tree", () => {
  it("counts once: five parents at the limit, each waiting for two children, all end", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 5);
    const parents: Harness[] = [];
    for (let index = 0; index < 5; index++) parents.push(await workingRun(plane));
    const stranger = await createRun(plane);
    const before = plane.started.length;
    for (const parent of parents) {
      await child(plane, parent);
      await child(plane, parent);
    }
    await deliver(plane);
    expect(await readState(plane, stranger)).toBe("QUEUED");
    const children = await begun(plane, before);
    expect(children).toHaveLength(10);
    expect(await readCounters(plane)).toMatchObject({ running: 5, queued: 1, waiting: 1 });
    for (const harness of [...children, ...parents]) await harness.finish();
    await deliver(plane);
    expect(
      await readStates(
        plane,
        [...children, ...parents].map(({ run_id }) => run_id),
      ),
    ).toEqual(Array.from({ length: 15 }, () => "SUCCEEDED"));
    expect(await readState(plane, stranger)).toBe("PENDING");
    expect(await readCounters(plane)).toMatchObject({ running: 1, queued: 0, waiting: 0 });
  });

  it("has eight slots for children, oldest first, and eight more for grandchildren", async () => {
    const plane = await createTestControlPlane();
    const root = await workingRun(plane);
    const before = plane.started.length;
    const ids: string[] = [];
    for (let index = 0; index < TREE_CONCURRENCY_LIMIT + 2; index++) {
      plane.clock.now += 10;
      ids.push(await child(plane, root));
    }
    await deliver(plane);
    const children = await begun(plane, before);
    expect(children.map(({ run_id }) => run_id)).toEqual(ids.slice(0, TREE_CONCURRENCY_LIMIT));
    // All eight wait for their own child, which does not need one of their slots.
    const grandchildren = plane.started.length;
    for (const harness of children) await child(plane, harness);
    await deliver(plane);
    expect(await begun(plane, grandchildren)).toHaveLength(TREE_CONCURRENCY_LIMIT);
    const [first] = children;
    await first?.finish();
    await deliver(plane);
    expect(await readStates(plane, ids.slice(-2))).toEqual(["PENDING", "QUEUED"]);
    expect(await readCounters(plane)).toMatchObject({ running: 1 });
  });

  it("keeps its slot while a child executes after its root has ended, and frees it with the last child", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 1);
    const root = await workingRun(plane);
    const before = plane.started.length;
    await child(plane, root);
    await child(plane, root);
    await deliver(plane);
    const [one, two] = await begun(plane, before);
    const stranger = await createRun(plane);
    await root.finish();
    await deliver(plane);
    expect(await readState(plane, stranger)).toBe("QUEUED");
    await one?.finish();
    await deliver(plane);
    expect(await readState(plane, stranger)).toBe("QUEUED");
    await two?.finish();
    await deliver(plane);
    expect(await readState(plane, stranger)).toBe("PENDING");
    expect(await readCounters(plane)).toMatchObject({ running: 1, waiting: 0 });
    expect(await plane.table.get(keys.tree(root.run_id, 1))).toMatchObject({ running: 0 });
  });

  it("whose root has ended without children uses the owner's slots again, also for waiting runs", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 1);
    const root = await workingRun(plane);
    const before = plane.started.length;
    const ids: string[] = [];
    for (let index = 0; index < TREE_CONCURRENCY_LIMIT + 1; index++) ids.push(await child(plane, root));
    await deliver(plane);
    const children = await begun(plane, before);
    await root.finish();
    // All end before any message is processed: the waiting run finds a tree without a slot.
    for (const harness of children) await harness.finish();
    expect(await readCounters(plane)).toMatchObject({ running: 0 });
    await deliver(plane);
    expect(await readState(plane, ids.at(-1) ?? "")).toBe("PENDING");
    expect(await readCounters(plane)).toMatchObject({ running: 1, queued: 0 });
  });
});

describe("an owner's wrong counters", () => {
  it("are corrected if runs wait and the difference is the same a minute later", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 2);
    await workingRun(plane);
    const counters = keys.counters({ type: "Team", uid: plane.team });
    await plane.table.write({ kind: "update", key: counters, add: { running: 1 } });
    const waiting = await createRun(plane);
    await deliver(plane);
    expect(await readCounters(plane)).toMatchObject({
      running: 2,
      waiting: 1,
      differs: { running: -1, queued: 0, waiting: 0 },
    });
    plane.clock.now += 60_000;
    await createRun(plane);
    await deliver(plane);
    expect(await readCounters(plane)).toMatchObject({ running: 1, queued: 2, waiting: 2 });
    expect(await readCounters(plane)).not.toHaveProperty("differs");
    plane.clock.now += 60_000;
    await reap(plane);
    await deliver(plane);
    expect(await readState(plane, waiting)).toBe("PENDING");
  });

  it("stay unchanged if they are right, and are not counted again for an hour", async () => {
    const plane = await createTestControlPlane();
    await limitTo(plane, 1);
    await workingRun(plane);
    await createRun(plane);
    await deliver(plane);
    const first = await readCounters(plane);
    expect(first).toMatchObject({ running: 1, queued: 1, waiting: 1, recounted_at: plane.clock.now });
    plane.clock.now += 3_599_999;
    await createRun(plane);
    await deliver(plane);
    expect(await readCounters(plane)).toMatchObject({ running: 1, recounted_at: first?.["recounted_at"] });
  });
});
