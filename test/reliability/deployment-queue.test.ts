import { describe, expect, it } from "vitest";
import { type RunHead, readHead } from "#shared/records/run-head.ts";
import { enterDeploymentQueue, grantExecutions } from "#shared/runs/capacity/deployment-queue.ts";
import { toExecutionCount } from "#shared/runs/capacity/execution-count-store.ts";
import type { CapacityPorts } from "#shared/runs/capacity/slots.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/** The real rules and stores on the memory table, in virtual time, with executions that end when the test says so. */
function createDeployment(maxExecutions: number) {
  const memory = memoryTable();
  const clock = { now: Date.parse("2026-05-18T19:00:00.000Z") };
  const granted: string[] = [];
  const ignored = async () => undefined;
  let calls = 0;
  const counted =
    <Arguments extends unknown[], Result>(call: (...all: Arguments) => Result) =>
    (...all: Arguments): Result => {
      calls++;
      return call(...all);
    };
  const table = {
    ...memory,
    get: counted(memory.get),
    query: counted(memory.query),
    transact: counted(memory.transact),
    write: counted(memory.write),
    batchGet: counted(memory.batchGet),
  };
  const ports: CapacityPorts = {
    table,
    queue: {
      sendRun: async (runId) => {
        granted.push(runId);
      },
      sendEnd: ignored,
    },
    now: () => clock.now,
  };

  async function create(team: string, runId: string): Promise<RunHead> {
    const item = {
      ...keys.head(runId),
      v: 1,
      scope: `TEAM#${team}#0`,
      updated_key: `${clock.now}#${runId}`,
      state: "QUEUED",
      p: { creator: "c", source: "API", location: "REMOTE" },
    };
    await memory.write({ kind: "put", item });
    const counters = keys.counters({ type: "Team", uid: team });
    await memory.write({ kind: "update", key: counters, set: { concurrency_limit: 100_000 } });
    const head = await readHead(runId, memory);
    if (head === undefined) throw new Error("the head was not stored");
    return head;
  }

  return {
    clock,
    granted,
    readCalls: () => calls,
    grant: () => grantExecutions(maxExecutions, ports),
    executions: () => memory.get(keys.executions()),
    /** Lets a run's head look as before it entered the queue. */
    hideEntryOf: (runId: string) =>
      memory.write({ kind: "update", key: keys.head(runId), remove: ["deployment_entry"] }),
    showEntryOf: (runId: string, entry: string) =>
      memory.write({ kind: "update", key: keys.head(runId), set: { deployment_entry: entry } }),
    /** Stores an item, as a restored backup may. */
    put: (item: Item) => memory.write({ kind: "put", item }),
    entries: () => memory.query({ pk: "DEPLOYMENT", prefix: "WAITING#" }),
    /** Starts a run, or lets it wait. */
    async arrive(team: string, runId: string): Promise<"started" | "waits"> {
      clock.now += 1;
      const head = await create(team, runId);
      const change = toExecutionCount(head, { to: "PENDING", maxExecutions });
      try {
        await transact(memory, change.writes);
        return "started";
      } catch {
        const waits = await enterDeploymentQueue(
          head,
          "owner",
          maxExecutions,
          (_, { set, if: conditions }) => ({
            head: { kind: "update", key: keys.head(runId), set, if: conditions },
          }),
          ports,
        );
        if (!waits) throw new Error("the run neither started nor waits");
        return "waits";
      }
    },
    /** Cancels a waiting run. */
    async cancel(runId: string): Promise<void> {
      const head = await readHead(runId, memory);
      if (head === undefined) throw new Error("there is no such run");
      await transact(memory, toExecutionCount(head, { to: "CANCELLED" }).writes);
    },
    /** Ends one execution, as the transition that ends a run does. */
    async end(runId: string): Promise<void> {
      const head = await readHead(runId, memory);
      if (head === undefined) throw new Error("there is no such run");
      await transact(memory, toExecutionCount({ ...head, counted: true }, { to: "FAILED" }).writes);
      await grantExecutions(maxExecutions, ports);
    },
  };
}

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

  it("make no calls while 10,000 of them wait, but one read of each pass of the reaper", async () => {
    const deployment = createDeployment(1);
    await deployment.arrive("early", "early-0");
    for (let index = 0; index < 10_000; index++) await deployment.arrive(`team-${index % 100}`, `run-${index}`);
    expect(await deployment.executions()).toMatchObject({ running: 1, waiting: 10_000 });
    const before = deployment.readCalls();
    // A minute has two passes of the reaper.
    for (let pass = 0; pass < 2; pass++) await deployment.grant();
    expect(deployment.readCalls() - before).toBe(2);
  });

  it("are not kept waiting by an entry whose run does not exist", async () => {
    const deployment = createDeployment(1);
    await deployment.arrive("a", "a-x");
    await deployment.put({ ...keys.waitingForDeployment(0, 0, "lost"), v: 1, run_id: "lost", turn: 0 });
    await deployment.arrive("a", "a-y");
    await deployment.end("a-x");
    expect(deployment.granted).toEqual(["a-y"]);
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
