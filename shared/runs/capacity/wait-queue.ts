import * as v from "valibot";
import { type RunHead, readHead, type SlotKind } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Conditions, Value } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import { readDeploymentPosition } from "./deployment-queue-store.ts";
import { recountIfDue } from "./recount.ts";
import { toPool } from "./slot-store.ts";
import { type CapacityPorts, hasWaitingRun, isFull, toWaitQueue, type WaitQueue } from "./slots.ts";
import { readPosition, waitQueueStore } from "./wait-queue-store.ts";

/** Slots that are granted at once, where a limit was raised; the next run that ends grants more. */
const MAX_GRANTS = 25;
/** Milliseconds after which the reaper requests the dispatch of a run that was granted a slot, if its message was lost. */
const GRANTED_CHECK_MS = 30_000;

/** What changes of a run that enters a wait queue. */
interface Entering {
  readonly set: Readonly<Record<string, Value>>;
  readonly if: Conditions;
  /** The run's position in the queue, from 1. */
  readonly position: number;
}

/** Builds the writes of a run that enters a wait queue, its `head` among them. */
export type AnnounceWaiting = (head: RunHead, entering: Entering) => NamedWrites;

/** How often a run that changes at the same time is read again. */
const MAX_READS = 5;

/**
 * Adds a queued run to the wait queue for a slot of `kind`. Returns false where it need not wait: a slot is free, and no run
 * waits for it. Returns true if the run does not wait for a slot any more; it is in no queue then.
 */
export async function enterWaitQueue(
  first: RunHead,
  kind: SlotKind,
  announce: AnnounceWaiting,
  ports: CapacityPorts,
): Promise<boolean> {
  let head: RunHead | undefined = first;
  for (let reads = 0; reads < MAX_READS; reads++) {
    const entered = await tryToEnter(head, kind, announce, ports);
    if (entered !== "changed") return entered;
    head = await readHead(first.run_id, ports.table);
    // The run is cancelled, dispatched by another message, or waits already.
    if (head?.state !== "QUEUED" || head.waiting !== undefined || head.slot !== undefined) return true;
  }
  throw new Error(`run ${first.run_id} changes too fast to enter the wait queue`);
}

async function tryToEnter(
  head: RunHead,
  kind: SlotKind,
  announce: AnnounceWaiting,
  ports: CapacityPorts,
): Promise<boolean | "changed"> {
  const queue = toWaitQueue(head, kind);
  const isOutside: Conditions = { waiting: { exists: false }, slot: { exists: false } };
  const position = 1 + (await countWaiting(queue, ports));
  const writes = announce(head, { set: { waiting: kind }, if: isOutside, position });
  for (const reason of [isFull(toPool(queue).limit), hasWaitingRun]) {
    try {
      await waitQueueStore(ports.table).add(head, queue, reason, writes);
      // Behind other runs: they may wait for a slot that is free, because the process that released it died.
      if (reason === hasWaitingRun) await dequeueNext(queue, ports);
      if (kind === "owner") await recountIfDue(queue.owner, ports);
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (error.failed.has("head") || error.failed.has("entry")) return "changed";
    }
  }
  return false;
}

/** Reads the position of a run in its wait queue, from 1; undefined if it does not wait, or if many wait before it. */
export async function readQueuePosition(
  head: RunHead,
  { table }: Pick<CapacityPorts, "table">,
): Promise<number | undefined> {
  if (head.deployment_entry !== undefined) return readDeploymentPosition(head.deployment_entry, table);
  if (head.waiting === undefined) return undefined;
  return readPosition(toWaitQueue(head, head.waiting), head.run_id, table);
}

/** Counts the runs in a wait queue. */
async function countWaiting(queue: WaitQueue, { table }: Pick<CapacityPorts, "table">): Promise<number> {
  const counters = await table.get(toPool(queue).counters);
  return v.parse(v.object({ waiting: v.optional(v.number(), 0) }), counters ?? {}).waiting;
}

/** Grants free slots to the runs that have waited longest, one after the other, and requests their dispatch. */
export async function dequeueNext(queue: WaitQueue, ports: CapacityPorts): Promise<void> {
  const store = waitQueueStore(ports.table);
  for (let granted = 0; granted < MAX_GRANTS; granted++) {
    const runId = await store.oldest(queue);
    if (runId === undefined) return;
    try {
      await store.grant(runId, queue, ports.now() + GRANTED_CHECK_MS);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const { failed } = error;
      if (failed.has("ownerCounters") || failed.has("treeCounters")) return;
      // The run was cancelled, or another process has granted it a slot: continue with the next one.
      if (failed.has("head") || failed.has("entry")) continue;
      // Its tree has no slot any more: it is dispatched, and takes or waits for one of its owner's.
      if (!(await leaveTreeQueue(runId, queue, ports))) continue;
    }
    await ports.queue.sendRun(runId, queue.owner).catch(() => undefined);
  }
}

/** Returns false where the run does not wait there any more. */
async function leaveTreeQueue(runId: string, queue: WaitQueue, ports: CapacityPorts): Promise<boolean> {
  try {
    await waitQueueStore(ports.table).remove(runId, queue, ports.now() + GRANTED_CHECK_MS);
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
}

/** Grants the slots that an owner has gained, because its limit was raised, to the runs that wait for them. */
export const dequeueMore = (owner: Owner, ports: CapacityPorts): Promise<void> =>
  dequeueNext({ kind: "owner", owner, root: "", depth: 0 }, ports);
