import { type RunHead, readHead } from "#shared/records/run-head.ts";
import { enterDeploymentQueue, findPlace, grantExecutions } from "#shared/runs/capacity/deployment-queue.ts";
import { toExecutionCount } from "#shared/runs/capacity/execution-count-store.ts";
import type { CapacityPorts, SlotTransition } from "#shared/runs/capacity/slots.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item, TransactionWrite, Write } from "#shared/table/table.ts";
import { ConflictError, transact } from "#shared/table/transact.ts";

/** The real rules and stores on the memory table, in virtual time, with executions that end when the test says so. */
export function createDeployment(maxExecutions: number) {
  let limit = maxExecutions;
  const written: TransactionWrite[] = [];
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
    transact: counted((writes: readonly TransactionWrite[]) => {
      written.push(...writes);
      return memory.transact(writes);
    }),
    write: counted((write: Write) => {
      written.push(write);
      return memory.write(write);
    }),
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

  /** Changes what a state transition of the run changes of executions. Returns false where another run has the place now. */
  async function change(head: RunHead, transition: SlotTransition): Promise<boolean> {
    const { writes, set, remove } = toExecutionCount(head, transition);
    try {
      await transact(table, { ...writes, head: { kind: "update", key: keys.head(head.run_id), set, remove } });
      return true;
    } catch (error) {
      if (error instanceof ConflictError && error.failedOnly("executions")) return false;
      throw error;
    }
  }

  return {
    clock,
    granted,
    /** All writes so far, in their order. */
    written,
    setLimit: (executions: number) => {
      limit = executions;
    },
    /** The runs that have a place, in the item of the deployment or in a shard. */
    countHeads: () => memory.all().filter(({ sk, counted: has }) => sk === "HEAD" && has === true).length,
    readCalls: () => calls,
    grant: () => grantExecutions(limit, ports),
    executions: () => memory.get(keys.executions()),
    /** Lets a run's head look as before it entered the queue. */
    hideEntryOf: (runId: string) =>
      memory.write({ kind: "update", key: keys.head(runId), remove: ["deployment_entry"] }),
    showEntryOf: (runId: string, entry: string) =>
      memory.write({ kind: "update", key: keys.head(runId), set: { deployment_entry: entry } }),
    findPlace: (runId: string) => findPlace(runId, limit, ports),
    /** Stores a run as a release without shards did: executing, or waiting since a turn. */
    async storeOld(team: string, runId: string, { counted: has, waits }: { counted?: true; waits?: number }) {
      await create(team, runId);
      const key = keys.head(runId);
      if (has === true) return memory.write({ kind: "update", key, set: { counted: true } });
      const entry = keys.waitingForDeployment(0, waits ?? 0, clock.now, runId);
      await memory.write({ kind: "put", item: { ...entry, v: 1, run_id: runId, turn: waits ?? 0 } });
      return memory.write({ kind: "update", key, set: { deployment_entry: entry.sk, slot: "owner" } });
    },
    /** Stores an item, as a restored backup may. */
    put: (item: Item) => memory.write({ kind: "put", item }),
    entries: () => memory.query({ pk: "DEPLOYMENT", prefix: "WAITING#" }),
    /**
     * Starts a run, or lets it wait.
     * @param whileEntering what happens between its first and its last write to the queue
     */
    async arrive(team: string, runId: string, whileEntering = ignored): Promise<"started" | "waits"> {
      clock.now += 1;
      const head = await create(team, runId);
      for (;;) {
        const place = await findPlace(runId, limit, ports);
        if (place === undefined) break;
        if (await change(head, { to: "PENDING", place })) return "started";
      }
      const waits = await enterDeploymentQueue(
        head,
        { kind: "owner" },
        limit,
        (_, { set, if: conditions }) => ({ head: { kind: "update", key: keys.head(runId), set, if: conditions } }),
        { ...ports, table: { ...table, transact: (writes) => whileEntering().then(() => table.transact(writes)) } },
      );
      if (!waits) throw new Error("the run neither started nor waits");
      return "waits";
    },
    /** Cancels a waiting run. */
    async cancel(runId: string): Promise<void> {
      const head = await readHead(runId, memory);
      if (head === undefined) throw new Error("there is no such run");
      await change(head, { to: "CANCELLED" });
    },
    /** Ends one execution, as the transition that ends a run does. */
    async end(runId: string): Promise<void> {
      const head = await readHead(runId, memory);
      if (head === undefined) throw new Error("there is no such run");
      await change({ ...head, counted: true }, { to: "FAILED" });
      await grantExecutions(limit, ports);
    },
  };
}
