import type { RunQueue } from "#shared/queue/run-queue.ts";
import { parseRunHead, type RunHead, type SlotKind } from "#shared/records/run-head.ts";
import { checkShard, keys, type Owner, sortableTime } from "#shared/table/keys.ts";
import { ConditionFailed, type Table, type TransactionWrite } from "#shared/table/table.ts";
import { recountIfDue } from "./recount.ts";
import { count, hasSlot, isFull, type Line, poolOf, takeOfTree, waitingKey, waitQueueOf } from "./slots.ts";

/** Slots that are handed on at once, where a limit was raised; the next to end goes on. */
const GRANTS = 25;
/** Milliseconds after which the reaper asks for the dispatch of a run that was given a slot, if its message was lost. */
const GRANTED_CHECK_MS = 30_000;

/** What waiting for capacity, and granting it, needs. */
export interface CapacityPorts {
  readonly table: Table;
  readonly queue: RunQueue;
  readonly now: () => number;
}

/**
 * Lets a waiting run stand in line for a slot of `kind`. False where it need not: there is a free slot, and nobody waits.
 * Throws nothing where the run has moved meanwhile; it is in no line then.
 */
export async function enterWaitQueue(head: RunHead, kind: SlotKind, ports: CapacityPorts): Promise<boolean> {
  const line = waitQueueOf(head, kind);
  const pool = poolOf(line);
  const waiting: TransactionWrite[] = [
    {
      kind: "update",
      key: keys.head(head.run_id),
      set: { waiting: kind },
      if: { state: { eq: "QUEUED" }, waiting: { exists: false }, slot: { exists: false } },
    },
    {
      kind: "put",
      item: { ...waitingKey(pool, head.run_id), v: 1, run_id: head.run_id },
      if: { pk: { exists: false } },
    },
  ];
  // A tree whose root gave its slot back has none to wait for.
  const rooted: TransactionWrite[] =
    kind === "tree" && head.root !== undefined
      ? [{ kind: "check", key: keys.head(head.root), if: { slot: { exists: true } } }]
      : [];
  for (const reason of [isFull(pool), { waiting: { atLeast: 1 } }]) {
    try {
      await ports.table.transact([count(pool.counters, { waiting: 1 }, reason), ...waiting, ...rooted]);
      // Behind others: they may wait for a slot that is free, because whoever freed it died.
      if ("waiting" in reason) await dequeueNext(line, ports);
      if (kind === "owner") await recountIfDue(line.owner, ports);
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      // It is not the line that refused it: the run is cancelled, taken up by another, or parked already.
      if (error.positions.some((position) => position === 1 || position === 2)) return true;
    }
  }
  return false;
}

/** Gives free slots to those that stand in a line longest, one after the other, and asks for their dispatch. */
export async function dequeueNext(line: Line, ports: CapacityPorts): Promise<void> {
  const pool = poolOf(line);
  for (let granted = 0; granted < GRANTS; granted++) {
    const { items } = await ports.table.query({ pk: pool.waitingPk, prefix: pool.waitingPrefix, limit: 1 });
    const [oldest] = items;
    if (oldest === undefined) return;
    const runId = oldest.sk.slice(pool.waitingPrefix.length);
    try {
      await grant(runId, line, ports);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (error.positions.includes(FULL)) return;
      // The run was cancelled, or another has granted it: on to the next one. Or its tree has no slot any more.
      const rootless = line.kind === "tree" && !error.positions.includes(0) && !error.positions.includes(1);
      if (!rootless || !(await leaveWaitQueue(runId, line, ports))) continue;
    }
    await ports.queue.sendRun(runId, line.owner).catch(() => undefined);
  }
}

/** Position of the pool's counters in the writes of `grant`. */
const FULL = 2;

async function grant(runId: string, line: Line, ports: CapacityPorts): Promise<void> {
  const { kind } = line;
  const pool = poolOf(line);
  const counted = { running: 1, waiting: -1 };
  await ports.table.transact([
    {
      kind: "update",
      key: keys.head(runId),
      set: { slot: kind, ...soon(runId, ports) },
      remove: ["waiting"],
      if: { state: { eq: "QUEUED" }, waiting: { eq: kind }, slot: { exists: false } },
    },
    { kind: "delete", key: waitingKey(pool, runId), if: { pk: { exists: true } } },
    ...(kind === "owner"
      ? [count(pool.counters, counted, hasSlot(pool))]
      : takeOfTree(line, pool, counted, hasSlot(pool))),
  ]);
}

/** The tree of the run holds no slot any more: the run waits for one of its owner's. False where it has moved on. */
async function leaveWaitQueue(runId: string, line: Line, ports: CapacityPorts): Promise<boolean> {
  const pool = poolOf(line);
  try {
    await ports.table.transact([
      {
        kind: "update",
        key: keys.head(runId),
        set: soon(runId, ports),
        remove: ["waiting"],
        if: { state: { eq: "QUEUED" }, waiting: { eq: "tree" } },
      },
      { kind: "delete", key: waitingKey(pool, runId), if: { pk: { exists: true } } },
      count(pool.counters, { waiting: -1 }),
    ]);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

const soon = (runId: string, ports: CapacityPorts) => ({
  check_shard: checkShard(runId),
  check_at: sortableTime(ports.now() + GRANTED_CHECK_MS),
});

/** Gives the slots that an owner has more from now on, because its limit was raised, to the runs that wait for them. */
export const dequeueMore = (owner: Owner, ports: CapacityPorts): Promise<void> =>
  dequeueNext({ kind: "owner", owner, root: "", depth: 0 }, ports);

/** Hands on what the ended run has freed: a slot of its tree, and maybe one of its owner. Answers its head, if there is one. */
export async function releaseCapacity(endedRunId: string, ports: CapacityPorts): Promise<RunHead | undefined> {
  const item = await ports.table.get(keys.head(endedRunId));
  if (item === undefined) return undefined;
  const ended = parseRunHead(item);
  if (ended.root !== undefined) await dequeueNext(waitQueueOf(ended, "tree"), ports);
  await dequeueNext(waitQueueOf(ended, "owner"), ports);
  return ended;
}
