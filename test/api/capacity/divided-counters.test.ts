import { beforeEach, describe, expect, it } from "vitest";
import { seededRandom } from "#shared/random.ts";
import { counterStore } from "#shared/runs/capacity/counter-store.ts";
import { recountIfDue } from "#shared/runs/capacity/recount.ts";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createHarness, createRun, deliver, type Harness } from "../../support/execution.ts";
import { checkSlots, listHeads } from "../../support/invariants.ts";
import { readState } from "../../support/look.ts";

let plane: TestControlPlane;
let user: Client;
const owner = () => ({ type: "Team", uid: plane.team }) as const;
const setLimits = async (settings: object) =>
  expect((await user.put(`/agent/teams/${plane.team}`, { settings })).status).toBe(200);
const read = () => counterStore(plane.table).read(owner());
const readParts = () => counterStore(plane.table).readParts(owner());
const readPart = async (id: string) => (await plane.table.get(keys.head(id)))?.["part"];

beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

async function createRuns(count: number): Promise<string[]> {
  const runs: string[] = [];
  for (let index = 0; index < count; index++) {
    plane.clock.now += 1;
    runs.push(await createRun(plane));
  }
  return runs;
}

/** Handles all messages at the same time, and those that they send. */
async function deliverTogether(): Promise<void> {
  while (plane.sent.length > 0) {
    const messages = plane.sent.splice(0);
    const results = await Promise.all(messages.map(({ queue, runId }) => consume(plane, queue, runId)));
    plane.sent.push(...messages.filter((_, index) => (results[index]?.batchItemFailures.length ?? 0) > 0));
  }
}

/** Returns the harnesses of all sandboxes that were started since `from`, after their first call. */
async function begun(from = 0): Promise<Harness[]> {
  const harnesses = plane.started.slice(from).map((envelope) => createHarness(plane, envelope));
  for (const harness of harnesses) await harness.resolve();
  return harnesses;
}

describe("the counters of a team with a limit of 128 runs", () => {
  beforeEach(() => setLimits({ concurrency_limit: 128 }));

  it("are divided in two, each of which counts some of the runs", async () => {
    expect(await readParts()).toMatchObject([
      { parts: 2, concurrency_limit: 64, queue_limit: 500 },
      { parts: 2, concurrency_limit: 64, queue_limit: 500 },
    ]);
    const runs = await createRuns(20);
    const parts = await Promise.all(runs.map(readPart));
    expect(new Set(parts)).toEqual(new Set([0, 1]));
    expect(await read()).toMatchObject({ queued: 20 });
    await deliver(plane);
    await checkSlots(plane, 128);
    for (const harness of await begun()) await harness.finish();
    await deliver(plane);
    expect(await read()).toMatchObject({ queued: 0, running: 0, waiting: 0 });
    await checkSlots(plane, 0);
  });

  it("let exactly as many runs execute as the limit, and those that wait start in their order", async () => {
    const runs = await createRuns(132);
    await deliver(plane);
    expect(plane.started).toHaveLength(128);
    expect(await read()).toMatchObject({ running: 128, queued: 4, waiting: 4 });
    await checkSlots(plane, 128);
    const harnesses = await begun();
    // The first of them have slots of both parts.
    for (const harness of harnesses.slice(0, 4)) {
      await harness.finish();
      await deliver(plane);
      expect(await read()).toMatchObject({ running: 128 });
    }
    expect(plane.started.slice(128).map(({ run_id }) => run_id)).toEqual(runs.slice(128));
    await checkSlots(plane, 128);
    for (const harness of [...harnesses.slice(4), ...(await begun(128))]) await harness.finish();
    await deliver(plane);
    await checkSlots(plane, 0);
  });

  it("refuse exactly the runs beyond the limit of the queue", async () => {
    await setLimits({ queue_limit: 3 });
    const create = () => user.post("/agent/runs", { prompt: "hello" });
    const made = [await create(), await create(), await create(), await create()];
    expect(made.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(made.slice(0, 3).map(({ body }) => body.at_capacity ?? false)).toEqual([false, false, false]);
    await setLimits({ queue_limit: null });
    expect((await create()).status).toBe(200);
    await checkSlots(plane, 0);
  });

  it("follow a limit that is lowered and raised while runs execute and wait", async () => {
    await createRuns(100);
    await deliver(plane);
    const harnesses = await begun();
    await setLimits({ concurrency_limit: 2 });
    const [late = ""] = await createRuns(1);
    await deliver(plane);
    expect(await readState(plane, late)).toBe("QUEUED");
    for (const harness of harnesses) await harness.finish();
    await deliver(plane);
    expect(await readState(plane, late)).toBe("PENDING");
    await checkSlots(plane, 2);
    const waiting = await createRuns(70);
    await deliver(plane);
    expect(await read()).toMatchObject({ running: 2, waiting: 69 });
    await setLimits({ concurrency_limit: 1_024 });
    for (let round = 0; round < 4; round++) await setLimits({ concurrency_limit: 1_024 });
    await deliver(plane);
    expect(await Promise.all(waiting.map((id) => readState(plane, id)))).toEqual(waiting.map(() => "PENDING"));
    expect(await readParts()).toHaveLength(16);
    await checkSlots(plane, 1_024);
  });

  it("let no run wait while a slot is free, and none much longer than in order, whichever of concurrent messages is first", async () => {
    const random = seededRandom(11);
    const created = new Map<string, number>();
    const waits: number[] = [];
    const inOrder: number[] = [];
    const queue: number[] = [];
    let executing: Harness[] = [];
    for (let round = 0; round < 24; round++) {
      plane.clock.now += 1_000;
      const ends = executing.filter(() => random() < 0.06);
      const arrivals = await createRuns(round === 0 ? 170 : 8);
      for (const id of arrivals) created.set(id, round);
      await Promise.all([deliverTogether(), ...ends.map((harness) => harness.finish())]);
      await deliverTogether();
      const started = await begun(waits.length);
      executing = [...executing.filter((harness) => !ends.includes(harness)), ...started];
      waits.push(...started.map(({ run_id }) => round - (created.get(run_id) ?? 0)));
      const { running, waiting } = await read();
      expect(waiting === 0 || running === 128).toBe(true);
      queue.push(...arrivals.map(() => round));
      inOrder.push(...queue.splice(0, started.length).map((since) => round - since));
    }
    await checkSlots(plane, 128);
    expect(Math.max(...waits)).toBeGreaterThan(5);
    expect(Math.max(...waits)).toBeLessThanOrEqual(Math.ceil(Math.max(...inOrder) * 1.05));
  });

  it("count a child where its parent's tree has a slot of another part", async () => {
    const [root = ""] = await createRuns(1);
    await deliver(plane);
    const [parent] = await begun();
    if (parent === undefined) throw new Error("the parent did not start");
    const children: string[] = [];
    do children.push(await createRun(plane, { prompt: "part of it" }, parent.key));
    while ((await readPart(children.at(-1) ?? "")) === (await readPart(root)));
    await deliver(plane);
    const harnesses = await begun(1);
    await parent.finish();
    await deliver(plane);
    await checkSlots(plane, 1);
    for (const harness of harnesses) await harness.finish();
    await deliver(plane);
    await checkSlots(plane, 0);
    expect(await read()).toMatchObject({ running: 0, queued: 0 });
  });

  const finishRuns = async (count: number) => {
    const from = plane.started.length;
    await createRuns(count);
    await deliver(plane);
    for (const harness of await begun(from)) await harness.finish();
    await deliver(plane);
  };
  const listUsage = () => plane.table.all().filter(({ sk }) => sk.startsWith("USAGE#"));
  const readDay = async () => {
    const day = new Date(plane.clock.now).toISOString().slice(0, 10);
    return (await user.get(`/agent/usage?from=${day}&to=${day}&group_by=day`)).body.buckets;
  };

  it("count the usage of runs in the partition of each part, whose sum the report has", async () => {
    await finishRuns(12);
    const team = `TEAM#${plane.team}`;
    expect(new Set(listUsage().map(({ pk }) => pk))).toEqual(new Set([team, `${team}#COUNTERS#1`]));
    expect(await readDay()).toMatchObject([{ runs: 12, succeeded: 12 }]);
  });

  it("keep the usage that an earlier release has counted for both parts in the team's partition", async () => {
    await finishRuns(12);
    for (const item of listUsage()) {
      const { pk, sk } = item;
      await plane.table.write({ kind: "delete", key: { pk, sk } });
      await plane.table.write({ kind: "put", item: { ...item, pk: `TEAM#${plane.team}`, sk: `${sk}${pk.length}` } });
    }
    await finishRuns(12);
    expect(await readDay()).toMatchObject([{ runs: 24, succeeded: 24 }]);
  });

  it("keep the usage of all parts where the limit is lowered", async () => {
    await finishRuns(12);
    await setLimits({ concurrency_limit: 1 });
    expect(await readDay()).toMatchObject([{ runs: 12, succeeded: 12 }]);
  });

  it("are deleted with the usage of all parts with the team", async () => {
    await finishRuns(12);
    expect((await user.delete(`/agent/teams/${plane.team}`)).status).toBe(204);
    expect(listUsage()).toEqual([]);
  });

  it("are corrected part by part", async () => {
    await createRuns(6);
    await plane.table.write({ kind: "update", key: keys.counterPart(owner(), 1), add: { running: 2, changes: 1 } });
    plane.clock.now += 3_600_000;
    await recountIfDue(owner(), plane.ports, 1);
    plane.clock.now += 60_000;
    await recountIfDue(owner(), plane.ports, 1);
    await checkSlots(plane, 0);
  });

  it("are all closed with the team", async () => {
    const [run = ""] = await createRuns(1);
    expect((await user.delete(`/agent/teams/${plane.team}`)).status).toBe(409);
    await user.post(`/agent/runs/${run}/cancel`);
    expect((await user.delete(`/agent/teams/${plane.team}`)).status).toBe(204);
    const items = plane.table.all().filter(({ pk, sk }) => pk.startsWith(`TEAM#${plane.team}`) && sk === "COUNTERS");
    expect(items).toHaveLength(2);
    for (const item of items) expect(item).toMatchObject({ queue_limit: 0, expires_at: expect.any(Number) });
  });
});

describe("a team whose limit is raised while runs execute and wait", () => {
  it("counts them where they were counted, and starts those that wait", async () => {
    await setLimits({ concurrency_limit: 1 });
    const runs = await createRuns(3);
    await deliver(plane);
    expect(await read()).toMatchObject({ running: 1, waiting: 2 });
    await setLimits({ concurrency_limit: 256 });
    await deliver(plane);
    expect(await Promise.all(runs.map((id) => readState(plane, id)))).toEqual(["PENDING", "PENDING", "PENDING"]);
    await checkSlots(plane, 256);
    for (const harness of await begun()) await harness.finish();
    await deliver(plane);
    expect(listHeads(plane).map(({ state }) => state)).toEqual(["SUCCEEDED", "SUCCEEDED", "SUCCEEDED"]);
    await checkSlots(plane, 0);
  });
});

describe("a team of an earlier release with a limit of 128 runs", () => {
  const limit = { concurrency_limit: 128 };
  beforeEach(async () => {
    await plane.table.write({ kind: "update", key: keys.team(plane.team), set: limit });
    await plane.table.write({ kind: "update", key: keys.counters(owner()), set: limit });
  });

  it("has one item of counters, by which as many runs execute as the limit, until its limits are set", async () => {
    const runs = await createRuns(130);
    expect(new Set(await Promise.all(runs.map(readPart)))).toEqual(new Set([undefined]));
    await deliver(plane);
    expect(plane.started).toHaveLength(128);
    expect(await readParts()).toMatchObject([{ running: 128, waiting: 2 }]);
    await setLimits({ queue_limit: 200 });
    expect(await readParts()).toMatchObject([{ concurrency_limit: 64 }, { concurrency_limit: 64 }]);
    expect(new Set(await Promise.all((await createRuns(20)).map(readPart)))).toEqual(new Set([0, 1]));
    for (const harness of await begun()) await harness.finish();
    await deliver(plane);
    await checkSlots(plane, 128);
  });
});

describe("a team with 16 parts", () => {
  it("counts no run in the first one, whose partition has the team's other items, before the others are full", async () => {
    await setLimits({ concurrency_limit: 1_024, queue_limit: 32 });
    const runs = await createRuns(32);
    const parts = await Promise.all(runs.map(readPart));
    expect(parts.filter((part) => part === 0)).toHaveLength(2);
    expect(new Set(parts).size).toBe(16);
    expect((await user.post("/agent/runs", { prompt: "hello" })).status).toBe(429);
    await deliver(plane);
    await checkSlots(plane, 1_024);
  });
});
