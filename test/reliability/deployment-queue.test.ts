import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { createDeployment } from "../support/deployment.ts";

/** The names of a team's runs, in the order of their creation. */
const runsOf = (team: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${team}-${String(index).padStart(5, "0")}`);

describe("runs that wait for the deployment", () => {
  it("start in the order of their creation within each owner", async () => {
    const deployment = createDeployment(4);
    const executing = runsOf("early", 4);
    for (const runId of executing) expect(await deployment.arrive("early", runId)).toBe("started");
    const teams = new Map([
      ["a", runsOf("a", 300)],
      ["b", runsOf("b", 60)],
      ["c", runsOf("c", 15)],
    ]);
    for (let index = 0; index < 300; index++) {
      for (const [team, runs] of teams) {
        const runId = runs[index];
        if (runId !== undefined) expect(await deployment.arrive(team, runId)).toBe("waits");
      }
    }
    for (const runId of executing) await deployment.end(runId);
    while (deployment.granted.length < 375) {
      const before = deployment.granted.length;
      const ending = deployment.granted[before - 4];
      if (ending === undefined) throw new Error("an execution that ended started no other");
      await deployment.end(ending);
      expect(deployment.granted).toHaveLength(before + 1);
    }
    for (const [team, runs] of teams) {
      expect(deployment.granted.filter((runId) => runId.startsWith(`${team}-`))).toEqual(runs);
    }
  });

  it("let an owner with few runs wait for a turn of each other owner, not for all of their runs", async () => {
    const deployment = createDeployment(1);
    await deployment.arrive("early", "early-0");
    for (const runId of runsOf("many", 500)) await deployment.arrive("many", runId);
    for (const runId of runsOf("few", 3)) await deployment.arrive("few", runId);
    let ending = "early-0";
    for (let end = 0; end < 8; end++) {
      await deployment.end(ending);
      ending = deployment.granted.at(-1) ?? "";
    }
    const positions = runsOf("few", 3).map((runId) => deployment.granted.indexOf(runId));
    expect(positions).toEqual([1, 3, 5]);
  });

  it("are overtaken by no run that is created later, whenever executions end", async () => {
    const deployment = createDeployment(2);
    await deployment.arrive("a", "a-x");
    await deployment.arrive("a", "a-y");
    const runs = runsOf("a", 200);
    let ended = 0;
    for (const [index, runId] of runs.entries()) {
      await deployment.arrive("a", runId);
      if (index % 3 === 0) await deployment.end(index === 0 ? "a-x" : (deployment.granted[ended++] ?? ""));
    }
    expect(deployment.granted.length).toBeGreaterThan(60);
    expect(deployment.granted).toEqual(runs.slice(0, deployment.granted.length));
  });

  it("are not delayed for long by turns that their owner has given up", async () => {
    const deployment = createDeployment(1);
    await deployment.arrive("early", "early-0");
    for (const runId of runsOf("a", 500)) await deployment.arrive("a", runId);
    for (const runId of runsOf("a", 500)) await deployment.cancel(runId);
    for (const runId of runsOf("b", 300)) await deployment.arrive("b", runId);
    await deployment.arrive("a", "a-late");
    let ending = "early-0";
    while (ending !== "a-late") {
      await deployment.end(ending);
      ending = deployment.granted.at(-1) ?? "";
    }
    expect(deployment.granted.length).toBeLessThanOrEqual(102);
  });

  it("make no calls while 10,000 of them wait, but two reads of each pass of the reaper", async () => {
    const deployment = createDeployment(1);
    await deployment.arrive("early", "early-0");
    await deployment.arrive("a", "run-0");
    for (let index = 1; index < 10_000; index++) {
      const key = keys.waitingForDeployment(0, index, 0, `run-${index}`);
      await deployment.put({ ...key, v: 1, run_id: `run-${index}`, turn: index });
    }
    expect(await deployment.executions()).toMatchObject({ running: 1 });
    expect((await deployment.entries()).items).toHaveLength(10_000);
    const before = deployment.readCalls();
    // A minute has two passes of the reaper.
    for (let pass = 0; pass < 2; pass++) await deployment.grant();
    expect(deployment.readCalls() - before).toBe(4);
  });

  it("are not kept waiting by an entry whose run does not exist", async () => {
    const deployment = createDeployment(1);
    await deployment.arrive("a", "a-x");
    await deployment.put({ ...keys.waitingForDeployment(0, 0, 0, "lost"), v: 1, run_id: "lost", turn: 0 });
    await deployment.arrive("a", "a-y");
    await deployment.end("a-x");
    expect(deployment.granted).toEqual(["a-y"]);
    expect(await deployment.entries()).toMatchObject({ items: [] });
  });

  it("are noted again where the queue was forgotten while they entered it", async () => {
    const deployment = createDeployment(2);
    await deployment.arrive("a", "a-x");
    await deployment.arrive("a", "a-y");
    const ending = ["a-x"];
    await deployment.arrive("a", "a-slow", async () => {
      deployment.clock.now += 10_000;
      for (const runId of ending.splice(0)) await deployment.end(runId);
    });
    expect(deployment.granted).toEqual(["a-slow"]);
    expect(await deployment.entries()).toMatchObject({ items: [] });
  });

  it("keep an entry that is visible before the head of its run", async () => {
    const deployment = createDeployment(1);
    await deployment.arrive("a", "a-x");
    await deployment.arrive("a", "a-y");
    const { items } = await deployment.entries();
    await deployment.hideEntryOf("a-y");
    await deployment.end("a-x");
    expect(deployment.granted).toEqual([]);
    expect((await deployment.entries()).items).toEqual(items);
    await deployment.showEntryOf("a-y", items[0]?.sk ?? "");
    await deployment.grant();
    expect(deployment.granted).toEqual(["a-y"]);
  });
});
