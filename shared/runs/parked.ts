import { checkShard, keys, sortableTime } from "#shared/table/keys.ts";
import { ConditionFailed, type TransactionWrite } from "#shared/table/table.ts";
import type { RunPorts } from "./ports.ts";
import { recountIfDue } from "./recount.ts";
import { ownerOf, type RunHead, type SlotKind } from "./run-head.ts";
import { count, hasSlot, isFull, parkedKey, poolOf, takeOfTree } from "./slots.ts";

/** Slots that are handed on at once, where a limit was raised; the next to end goes on. */
const GRANTS = 25;
/** Milliseconds after which the reaper asks for the dispatch of a run that was given a slot, if its message was lost. */
const GRANTED_CHECK_MS = 30_000;

type ParkPorts = Pick<RunPorts, "table" | "runs" | "queue" | "now">;

/**
 * Lets a waiting run stand in line for a slot of `kind`. False where it need not: there is a free slot, and nobody waits.
 * Throws nothing where the run has moved meanwhile; it is in no line then.
 */
export async function park(head: RunHead, kind: SlotKind, ports: ParkPorts): Promise<boolean> {
  const pool = poolOf(head, kind);
  const parked: TransactionWrite[] = [
    {
      kind: "update",
      key: keys.head(head.run_id),
      set: { parked: kind },
      if: { state: { eq: "QUEUED" }, parked: { exists: false }, slot: { exists: false } },
    },
    {
      kind: "put",
      item: { ...parkedKey(pool, head.run_id), v: 1, run_id: head.run_id },
      if: { pk: { exists: false } },
    },
  ];
  // A tree whose root gave its slot back has none to wait for.
  const rooted: TransactionWrite[] =
    kind === "tree" && head.root !== undefined
      ? [{ kind: "check", key: keys.head(head.root), if: { slot: { exists: true } } }]
      : [];
  for (const line of [isFull(pool), { parked: { atLeast: 1 } }]) {
    try {
      await ports.table.transact([count(pool.counters, { parked: 1 }, line), ...parked, ...rooted]);
      // Behind others: they may wait for a slot that is free, because whoever freed it died.
      if ("parked" in line) await grantNext(head, kind, ports);
      if (kind === "owner") await recountIfDue(ownerOf(head), ports);
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      // It is not the line that refused it: the run is cancelled, taken up by another, or parked already.
      if (error.positions.some((position) => position === 1 || position === 2)) return true;
    }
  }
  return false;
}

/** Gives free slots of a run's pool to those that wait longest, one after the other, and asks for their dispatch. */
export async function grantNext(head: RunHead, kind: SlotKind, ports: ParkPorts): Promise<void> {
  const pool = poolOf(head, kind);
  for (let granted = 0; granted < GRANTS; granted++) {
    const { items } = await ports.table.query({ pk: pool.parkedPk, prefix: pool.parkedPrefix, limit: 1 });
    const [oldest] = items;
    if (oldest === undefined) return;
    const runId = oldest.sk.slice(pool.parkedPrefix.length);
    try {
      await grant(runId, head, kind, ports);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (error.positions.includes(FULL)) return;
      // The run was cancelled, or another has granted it: on to the next one. Or its tree has no slot any more.
      const rootless = kind === "tree" && !error.positions.includes(0) && !error.positions.includes(1);
      if (!rootless || !(await unpark(runId, head, ports))) continue;
    }
    await ports.queue.sendRun(runId, ownerOf(head)).catch(() => undefined);
  }
}

/** Position of the pool's counters in the writes of `grant`. */
const FULL = 2;

async function grant(runId: string, head: RunHead, kind: SlotKind, ports: ParkPorts): Promise<void> {
  const pool = poolOf(head, kind);
  const counted = { running: 1, parked: -1 };
  await ports.table.transact([
    {
      kind: "update",
      key: keys.head(runId),
      set: { slot: kind, ...soon(runId, ports) },
      remove: ["parked"],
      if: { state: { eq: "QUEUED" }, parked: { eq: kind }, slot: { exists: false } },
    },
    { kind: "delete", key: parkedKey(pool, runId), if: { pk: { exists: true } } },
    ...(kind === "owner"
      ? [count(pool.counters, counted, hasSlot(pool))]
      : takeOfTree(head, pool, counted, hasSlot(pool))),
  ]);
}

/** The tree of the run holds no slot any more: the run waits for one of its owner's. False where it has moved on. */
async function unpark(runId: string, head: RunHead, ports: ParkPorts): Promise<boolean> {
  const pool = poolOf(head, "tree");
  try {
    await ports.table.transact([
      {
        kind: "update",
        key: keys.head(runId),
        set: soon(runId, ports),
        remove: ["parked"],
        if: { state: { eq: "QUEUED" }, parked: { eq: "tree" } },
      },
      { kind: "delete", key: parkedKey(pool, runId), if: { pk: { exists: true } } },
      count(pool.counters, { parked: -1 }),
    ]);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

const soon = (runId: string, ports: ParkPorts) => ({
  check_shard: checkShard(runId),
  check_at: sortableTime(ports.now() + GRANTED_CHECK_MS),
});

/** Hands on what the ended run has freed: a slot of its tree, and maybe one of its owner. */
export async function handOn(endedRunId: string, ports: ParkPorts): Promise<void> {
  const ended = await ports.runs.head(endedRunId);
  if (ended === undefined) return;
  if (ended.root !== undefined) await grantNext(ended, "tree", ports);
  await grantNext(ended, "owner", ports);
}
