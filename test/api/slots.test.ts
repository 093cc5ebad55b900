import { describe, expect, it } from "vitest";
import { TREE_CONCURRENCY_LIMIT } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import { clientOf } from "../support/client.ts";
import { createRun, deliver, type Harness, harnessOf, workingRun } from "../support/execution.ts";
import { stateOf } from "../support/look.ts";
import { reap } from "../support/reaper.ts";
import { makeWorld, type World } from "../support/world.ts";

const limitTo = async (world: World, concurrency_limit: number): Promise<void> => {
  const answer = await clientOf(world).put(`/agent/teams/${world.team}`, { settings: { concurrency_limit } });
  expect(answer.status).toBe(200);
};
const countersOf = (world: World) => world.table.get(keys.counters({ type: "Team", uid: world.team }));
const statesOf = (world: World, ids: readonly string[]) => Promise.all(ids.map((id) => stateOf(world, id)));

/** The harnesses of all sandboxes started since `from`, each after its first call. */
async function begun(world: World, from: number): Promise<Harness[]> {
  const harnesses = world.started.slice(from).map((envelope) => harnessOf(world, envelope));
  for (const harness of harnesses) await harness.resolve();
  return harnesses;
}

const child = (world: World, parent: Harness): Promise<string> =>
  createRun(world, { prompt: "part of it" }, parent.key);

describe("a run that finds no slot", () => {
  it("stands in line: newcomers go behind it though a slot has become free, and the oldest is first", async () => {
    const world = await makeWorld();
    await limitTo(world, 1);
    const working = await workingRun(world);
    world.clock.now += 10;
    const first = await createRun(world);
    await deliver(world);
    await working.finish();
    // The message of the end has not been handled yet, so nobody has handed the slot on.
    world.sent.length = 0;
    world.clock.now += 10;
    const newcomer = await createRun(world);
    expect((await clientOf(world).post("/agent/runs", { prompt: "a" })).body).toMatchObject({ at_capacity: true });
    await deliver(world);
    expect(await statesOf(world, [first, newcomer])).toEqual(["PENDING", "QUEUED"]);
    expect(await countersOf(world)).toMatchObject({ running: 1, queued: 2, parked: 2 });
  });

  it("gets the slot of the one that ends, and leaves the line when it is cancelled", async () => {
    const world = await makeWorld();
    await limitTo(world, 1);
    const working = await workingRun(world);
    const waiting: string[] = [];
    for (let index = 0; index < 3; index++) {
      world.clock.now += 10;
      waiting.push(await createRun(world));
    }
    await deliver(world);
    const [cancelled = "", next = "", last = ""] = waiting;
    await clientOf(world).post(`/agent/runs/${cancelled}/cancel`);
    expect(await countersOf(world)).toMatchObject({ running: 1, queued: 2, parked: 2 });
    await working.finish();
    await deliver(world);
    expect(await statesOf(world, [cancelled, next, last])).toEqual(["CANCELLED", "PENDING", "QUEUED"]);
  });

  it("is dispatched in the end though the message that grants its slot is lost", async () => {
    const world = await makeWorld();
    await limitTo(world, 1);
    const working = await workingRun(world);
    const waiting = await createRun(world);
    await deliver(world);
    await working.finish();
    await deliver(world, "ends");
    world.sent.length = 0;
    expect(await stateOf(world, waiting)).toBe("QUEUED");
    expect(await countersOf(world)).toMatchObject({ running: 1, queued: 1, parked: 0 });
    world.clock.now += 30_000;
    await reap(world);
    await deliver(world);
    expect(await stateOf(world, waiting)).toBe("PENDING");
    expect(await countersOf(world)).toMatchObject({ running: 1, queued: 0, parked: 0 });
  });

  it("is given back where it is cancelled between grant and start", async () => {
    const world = await makeWorld();
    await limitTo(world, 1);
    const working = await workingRun(world);
    const waiting = await createRun(world);
    await deliver(world);
    await working.finish();
    await deliver(world, "ends");
    await clientOf(world).post(`/agent/runs/${waiting}/cancel`);
    expect(await countersOf(world)).toMatchObject({ running: 0, queued: 0, parked: 0 });
  });
});

describe("a flood of one team", () => {
  it("lets at most as many of its runs start before another team's as it has slots, though it came first", async () => {
    const world = await makeWorld();
    await limitTo(world, 5);
    for (let index = 0; index < 200; index++) await createRun(world);
    const other = await createRun(world, { prompt: "hello" }, world.otherKey);
    // The queue in the order of its messages, without the fairness that SQS adds.
    await deliver(world);
    const started = world.started.map(({ run_id }) => run_id);
    expect(started.indexOf(other)).toBe(5);
    expect(started).toHaveLength(6);
    expect(await countersOf(world)).toMatchObject({ running: 5, queued: 195, parked: 195 });
  });
});

describe("a tree of runs", () => {
  it("counts once: five parents at the limit, each waiting for two children, all end", async () => {
    const world = await makeWorld();
    await limitTo(world, 5);
    const parents: Harness[] = [];
    for (let index = 0; index < 5; index++) parents.push(await workingRun(world));
    const stranger = await createRun(world);
    const before = world.started.length;
    for (const parent of parents) {
      await child(world, parent);
      await child(world, parent);
    }
    await deliver(world);
    expect(await stateOf(world, stranger)).toBe("QUEUED");
    const children = await begun(world, before);
    expect(children).toHaveLength(10);
    expect(await countersOf(world)).toMatchObject({ running: 5, queued: 1, parked: 1 });
    for (const harness of [...children, ...parents]) await harness.finish();
    await deliver(world);
    expect(
      await statesOf(
        world,
        [...children, ...parents].map(({ run_id }) => run_id),
      ),
    ).toEqual(Array.from({ length: 15 }, () => "SUCCEEDED"));
    expect(await stateOf(world, stranger)).toBe("PENDING");
    expect(await countersOf(world)).toMatchObject({ running: 1, queued: 0, parked: 0 });
  });

  it("has eight slots for children, the oldest first, and as many again for theirs", async () => {
    const world = await makeWorld();
    const root = await workingRun(world);
    const before = world.started.length;
    const ids: string[] = [];
    for (let index = 0; index < TREE_CONCURRENCY_LIMIT + 2; index++) {
      world.clock.now += 10;
      ids.push(await child(world, root));
    }
    await deliver(world);
    const children = await begun(world, before);
    expect(children.map(({ run_id }) => run_id)).toEqual(ids.slice(0, TREE_CONCURRENCY_LIMIT));
    // All eight wait for a child of their own: no slot of theirs is in its way.
    const grandchildren = world.started.length;
    for (const harness of children) await child(world, harness);
    await deliver(world);
    expect(await begun(world, grandchildren)).toHaveLength(TREE_CONCURRENCY_LIMIT);
    const [first] = children;
    await first?.finish();
    await deliver(world);
    expect(await statesOf(world, ids.slice(-2))).toEqual(["PENDING", "QUEUED"]);
    expect(await countersOf(world)).toMatchObject({ running: 1 });
  });

  it("keeps its slot while a child works though its root has ended, and gives it back with the last", async () => {
    const world = await makeWorld();
    await limitTo(world, 1);
    const root = await workingRun(world);
    const before = world.started.length;
    await child(world, root);
    await child(world, root);
    await deliver(world);
    const [one, two] = await begun(world, before);
    const stranger = await createRun(world);
    await root.finish();
    await deliver(world);
    expect(await stateOf(world, stranger)).toBe("QUEUED");
    await one?.finish();
    await deliver(world);
    expect(await stateOf(world, stranger)).toBe("QUEUED");
    await two?.finish();
    await deliver(world);
    expect(await stateOf(world, stranger)).toBe("PENDING");
    expect(await countersOf(world)).toMatchObject({ running: 1, parked: 0 });
    expect(await world.table.get(keys.tree(root.run_id, 1))).toMatchObject({ running: 0 });
  });

  it("whose root has ended without children draws on the owner's slots again, waiting ones too", async () => {
    const world = await makeWorld();
    await limitTo(world, 1);
    const root = await workingRun(world);
    const before = world.started.length;
    const ids: string[] = [];
    for (let index = 0; index < TREE_CONCURRENCY_LIMIT + 1; index++) ids.push(await child(world, root));
    await deliver(world);
    const children = await begun(world, before);
    await root.finish();
    // All end before any of the messages is handled: the one that waits finds a tree without a slot.
    for (const harness of children) await harness.finish();
    expect(await countersOf(world)).toMatchObject({ running: 0 });
    await deliver(world);
    expect(await stateOf(world, ids.at(-1) ?? "")).toBe("PENDING");
    expect(await countersOf(world)).toMatchObject({ running: 1, queued: 0 });
  });
});

describe("an owner's counters that are wrong", () => {
  it("are put right when runs wait and the difference is the same a minute later", async () => {
    const world = await makeWorld();
    await limitTo(world, 2);
    await workingRun(world);
    const counters = keys.counters({ type: "Team", uid: world.team });
    await world.table.write({ kind: "update", key: counters, add: { running: 1 } });
    const waiting = await createRun(world);
    await deliver(world);
    expect(await countersOf(world)).toMatchObject({
      running: 2,
      parked: 1,
      differs: { running: -1, queued: 0, parked: 0 },
    });
    world.clock.now += 60_000;
    await createRun(world);
    await deliver(world);
    expect(await countersOf(world)).toMatchObject({ running: 1, queued: 2, parked: 2 });
    expect(await countersOf(world)).not.toHaveProperty("differs");
    world.clock.now += 60_000;
    await reap(world);
    await deliver(world);
    expect(await stateOf(world, waiting)).toBe("PENDING");
  });

  it("stay as they are where they are right, and are not counted again for an hour", async () => {
    const world = await makeWorld();
    await limitTo(world, 1);
    await workingRun(world);
    await createRun(world);
    await deliver(world);
    const first = await countersOf(world);
    expect(first).toMatchObject({ running: 1, queued: 1, parked: 1, recounted_at: world.clock.now });
    world.clock.now += 3_599_999;
    await createRun(world);
    await deliver(world);
    expect(await countersOf(world)).toMatchObject({ running: 1, recounted_at: first?.["recounted_at"] });
  });
});
