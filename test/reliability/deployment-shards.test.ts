import { describe, expect, it } from "vitest";
import { seededRandom } from "#shared/random.ts";
import { findPlace } from "#shared/runs/capacity/deployment-queue.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { createDeployment } from "../support/deployment.ts";

const TEAMS = ["a", "b", "c", "d", "e"] as const;
const teamOf = (index: number): string => TEAMS[index % TEAMS.length] ?? "a";
const nameRuns = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(5, "0")}`);

/** Creates many runs at the same time. Returns those that started. */
async function createTogether(deployment: ReturnType<typeof createDeployment>, runs: readonly string[]) {
  const results = await Promise.all(runs.map((runId, index) => deployment.arrive(teamOf(index), runId)));
  return runs.filter((_, index) => results[index] === "started");
}

/** A deployment that executes `count` runs. */
async function createFull(count: number) {
  const deployment = createDeployment(count);
  const started = await createTogether(deployment, nameRuns("full", count));
  expect(started).toHaveLength(count);
  return { deployment, started };
}

describe("executions that shards count", () => {
  it("are exactly as many as the limit while runs start at the same time", async () => {
    const deployment = createDeployment(100);
    const started = await createTogether(deployment, nameRuns("x", 150));
    expect(started).toHaveLength(100);
    expect(deployment.countHeads()).toBe(100);
    expect(deployment.granted).toEqual([]);
    for (const runId of started.slice(0, 30)) {
      await deployment.end(runId);
      expect(deployment.countHeads()).toBe(100);
    }
    expect(deployment.granted).toHaveLength(30);
  });

  it("rarely write the item of the deployment", async () => {
    const deployment = createDeployment(256);
    const runs = nameRuns("x", 256);
    for (const runId of runs) expect(await deployment.arrive("a", runId)).toBe("started");
    for (const runId of runs) await deployment.end(runId);
    for (const runId of nameRuns("again", 256)) expect(await deployment.arrive("a", runId)).toBe("started");
    const writes = deployment.written.filter((write) => "key" in write && write.key.pk === "DEPLOYMENT");
    expect(deployment.countHeads()).toBe(256);
    // Each of 16 shards leases 4 at a time.
    expect(writes.length).toBeLessThanOrEqual(80);
  });

  it("refuse a start without a write", async () => {
    const { deployment } = await createFull(64);
    const before = deployment.written.length;
    expect(await deployment.findPlace("late")).toBeUndefined();
    expect(deployment.written).toHaveLength(before);
  });

  it("follow a limit that is lowered, raised and lowered below two shards", async () => {
    const { deployment, started } = await createFull(96);
    const late = nameRuns("late", 120);
    for (const runId of started.slice(0, 16)) await deployment.end(runId);
    deployment.setLimit(48);
    for (const [index, runId] of late.entries()) await deployment.arrive(teamOf(index), runId);
    expect(deployment.countHeads()).toBe(80);
    for (const runId of started.slice(16, 48)) await deployment.end(runId);
    expect(deployment.countHeads()).toBe(48);
    for (const runId of started.slice(48, 52)) await deployment.end(runId);
    expect(deployment.granted).toHaveLength(4);
    deployment.setLimit(60);
    await deployment.grant();
    expect(deployment.countHeads()).toBe(60);
    deployment.setLimit(20);
    for (const runId of [...started.slice(52), ...deployment.granted]) {
      await deployment.end(runId);
    }
    expect(deployment.countHeads()).toBe(20);
    expect(await deployment.executions()).toMatchObject({ running: 20 });
  });

  it("include the executions and the waiting runs of a release without shards", async () => {
    const deployment = createDeployment(40);
    const old = nameRuns("old", 40);
    for (const runId of old) await deployment.storeOld("a", runId, { counted: true });
    await deployment.storeOld("a", "old-waits", { waits: 7 });
    await deployment.put({ ...keys.executions(), v: 1, running: 40, waiting: 1, turn: 3 });
    expect(await deployment.arrive("b", "new")).toBe("waits");
    await deployment.end("old-00000");
    await deployment.end("old-00001");
    expect(deployment.granted).toEqual(["old-waits", "new"]);
    expect(deployment.countHeads()).toBe(40);
    for (const runId of [...old.slice(2), "new", "old-waits"]) await deployment.end(runId);
    expect(deployment.countHeads()).toBe(0);
    await createTogether(deployment, nameRuns("next", 50));
    expect(deployment.countHeads()).toBe(40);
  });

  it("forget the wait queue some time after the last run has left it", async () => {
    const { deployment, started } = await createFull(32);
    await deployment.arrive("a", "waits");
    expect(await deployment.executions()).toMatchObject({ queue_at: deployment.clock.now });
    for (const runId of started.slice(0, 2)) await deployment.end(runId);
    expect(await deployment.executions()).toHaveProperty("queue_at");
    deployment.clock.now += 10_000;
    await deployment.grant();
    expect(await deployment.executions()).not.toHaveProperty("queue_at");
  });

  it("let no run of an owner wait much longer than in the order of its creation", async () => {
    const deployment = createDeployment(128);
    const random = seededRandom(7);
    const ends: { at: number; runId: string }[] = [];
    const waits = new Map<string, { created: number; started: number }[]>(TEAMS.map((team) => [team, []]));
    const created = new Map<string, { team: string; at: number }>();
    const start = (runId: string) => {
      const { team, at } = created.get(runId) ?? { team: "", at: 0 };
      waits.get(team)?.push({ created: at, started: deployment.clock.now });
      ends.push({ at: deployment.clock.now + 60_000 + Math.floor(random() * 540_000), runId });
      ends.sort((a, b) => a.at - b.at);
    };
    let noted = 0;
    const endUntil = async (time: number) => {
      for (let next = ends[0]; next !== undefined && next.at <= time; next = ends[0]) {
        ends.shift();
        deployment.clock.now = next.at;
        await deployment.end(next.runId);
        for (; noted < deployment.granted.length; noted++) start(deployment.granted[noted] ?? "");
      }
    };
    for (const [index, runId] of nameRuns("x", 500).entries()) {
      const at = deployment.clock.now + Math.floor(random() * 2_000);
      await endUntil(at);
      deployment.clock.now = at;
      // Owner "a" creates half of all runs.
      const team = index % 2 === 0 ? "a" : teamOf(index);
      created.set(runId, { team, at });
      if ((await deployment.arrive(team, runId)) === "started") start(runId);
    }
    await endUntil(Number.POSITIVE_INFINITY);
    for (const [team, all] of waits) {
      const longest = Math.max(...all.map((run) => run.started - run.created));
      // The runs of an owner in the order of their creation, at the times at which it had one started.
      const starts = all.map((run) => run.started).toSorted((a, b) => a - b);
      const creations = all.map((run) => run.created).toSorted((a, b) => a - b);
      const inOrder = Math.max(...starts.map((at, index) => at - (creations[index] ?? 0)));
      expect(longest, team).toBeGreaterThan(10_000);
      expect(longest / inOrder, team).toBeLessThanOrEqual(1.05);
    }
  });
});

describe("the search for a place", () => {
  it("takes a free place of another shard where its own has none", async () => {
    const table = memoryTable();
    await table.write({ kind: "put", item: { ...keys.executions(), v: 1, running: 64 } });
    for (const shard of [0, 1, 2, 3]) {
      await table.write({ kind: "put", item: { ...keys.executionPlaces(shard), v: 1, free: shard === 2 ? 1 : 0 } });
    }
    for (const runId of nameRuns("x", 10)) expect(await findPlace(runId, 64, { table })).toEqual({ shard: 2 });
  });
});
