import { beforeEach, describe, expect, it } from "vitest";
import { recountIfDue } from "#shared/runs/capacity/recount.ts";
import { keys } from "#shared/table/keys.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const owner = () => ({ type: "Team", uid: plane.team }) as const;
const read = () => plane.table.get(keys.counters(owner()));
const add = (change: Record<string, number>) =>
  plane.table.write({ kind: "update", key: keys.counters(owner()), add: change });
const recount = async () => {
  await recountIfDue(owner(), plane.ports);
  return read();
};

describe("a recount of an owner's runs", () => {
  it("corrects only a difference that was the same at least a minute before", async () => {
    await createRun(plane);
    await add({ running: 2 });
    const noted = await recount();
    expect(noted).toMatchObject({ running: 2, differs: { queued: 0, running: -2, waiting: 0, at: plane.clock.now } });
    plane.clock.now += MINUTE - 1;
    expect(await recount(), "too early").toEqual(noted);
    plane.clock.now += 1;
    await add({ running: 1 });
    const again = await recount();
    expect(again, "another difference").toMatchObject({ running: 3, differs: { running: -3, at: plane.clock.now } });
    plane.clock.now += MINUTE;
    const corrected = await recount();
    expect(corrected).toMatchObject({ queued: 1, running: 0, recounted_at: plane.clock.now });
    expect(corrected).not.toHaveProperty("differs");
  });

  it.each(["queued", "running", "waiting"])(
    "corrects only the counter of %s runs if it is the wrong one",
    async (name) => {
      await createRun(plane);
      const right = { queued: 1, running: 0, waiting: 0 };
      await add({ [name]: 2 });
      await recount();
      plane.clock.now += MINUTE;
      await add({ [name]: 1 });
      expect(await recount(), "another difference").toMatchObject({ differs: { [name]: -3 } });
      plane.clock.now += MINUTE;
      const corrected = await recount();
      expect({ ...right, ...corrected }).toMatchObject(right);
      expect(corrected).not.toHaveProperty("differs");
    },
  );

  it("runs once an hour", async () => {
    await createRun(plane);
    const first = await recount();
    expect(first).toMatchObject({ recounted_at: plane.clock.now });
    plane.clock.now += HOUR - 1;
    expect(await recount()).toEqual(first);
    plane.clock.now += 1;
    expect(await recount()).toMatchObject({ recounted_at: plane.clock.now });
  });

  it("discards a difference that no longer exists", async () => {
    await createRun(plane);
    await add({ waiting: 1 });
    expect(await recount()).toMatchObject({ differs: { waiting: -1 } });
    await add({ waiting: -1 });
    plane.clock.now += MINUTE;
    const counters = await recount();
    expect(counters).toMatchObject({ waiting: 0, recounted_at: plane.clock.now });
    expect(counters).not.toHaveProperty("differs");
  });

  it("corrects nothing if a counter changes concurrently", async () => {
    await createRun(plane);
    await add({ running: 1 });
    await recount();
    plane.clock.now += MINUTE;
    let pages = 0;
    const query: typeof plane.ports.table.query = async (request) => {
      const page = await plane.ports.table.query(request);
      // The count reads several parts of the active runs.
      if (pages++ === 0) await createRun(plane, { prompt: "meanwhile" });
      return page;
    };
    await recountIfDue(owner(), { ...plane.ports, table: { ...plane.ports.table, query } });
    expect(await read()).toMatchObject({ queued: 2, running: 1, differs: { running: -1 } });
  });

  it("counts no run whose head no longer exists", async () => {
    await createRun(plane);
    await add({ queued: 1, running: 1 });
    const gone = { ...keys.head("019e3c75-9780-7b78-8a54-7a196032b69c"), state: "QUEUED" };
    const query: typeof plane.ports.table.query = async (request) => {
      const { items, more } = await plane.ports.table.query(request);
      return { items: [...items, gone], more };
    };
    await recountIfDue(owner(), { ...plane.ports, table: { ...plane.ports.table, query } });
    expect(await read()).toMatchObject({ differs: { queued: -1, running: -1, waiting: 0 } });
  });

  it("agrees with the counters of a tree whose root has ended, of runs that wait, and of LOCAL runs", async () => {
    const parent = await workingRun(plane);
    const id = await createRun(plane, { prompt: "child", parent_run_id: parent.run_id });
    await createHarness(plane, await plane.dispatch(id)).resolve();
    const second = await createRun(plane, { prompt: "child", parent_run_id: parent.run_id });
    const waiting = { kind: "update", key: keys.head(second), set: { waiting: "tree" } } as const;
    await plane.table.write(waiting);
    await parent.finish();
    await createRun(plane, { prompt: "local", execution_location: "LOCAL" });
    expect(await plane.table.get(keys.head(parent.run_id))).toMatchObject({ state: "SUCCEEDED", slot: "owner" });
    const counters = await recount();
    expect(counters).toMatchObject({ queued: 1, running: 1, recounted_at: plane.clock.now });
    expect(counters).not.toHaveProperty("differs");
  });
});
