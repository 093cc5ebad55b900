import { parseOwner, type RunHead, readHead, type SlotKind } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Conditions, Value } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import { counterStore, findFreeSlot, parseCounters, sumCounters } from "./counter-store.ts";
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

/** What entering a wait queue finds: that the run waits, or a free slot that no run waits for, maybe of another part of the counters. */
export type Entered = "waits" | { readonly part?: number };

/**
 * Adds a queued run to the wait queue for a slot of `kind`, unless a slot is free that no run waits for. Returns "waits" too if the
 * run does not need a slot any more; it is in no queue then.
 */
export async function enterWaitQueue(
  first: RunHead,
  kind: SlotKind,
  announce: AnnounceWaiting,
  ports: CapacityPorts,
): Promise<Entered> {
  let head: RunHead | undefined = first;
  for (let reads = 0; reads < MAX_READS; reads++) {
    const entered = await tryToEnter(head, kind, announce, ports);
    if (entered !== "changed") return entered;
    head = await readHead(first.run_id, ports.table);
    // The run is cancelled, dispatched by another message, or waits already.
    if (head?.state !== "QUEUED" || head.waiting !== undefined || head.slot !== undefined) return "waits";
  }
  throw new Error(`run ${first.run_id} changes too fast to enter the wait queue`);
}

async function tryToEnter(
  head: RunHead,
  kind: SlotKind,
  announce: AnnounceWaiting,
  ports: CapacityPorts,
): Promise<Entered | "changed"> {
  const own = toWaitQueue(head, kind);
  const isOutside: Conditions = { waiting: { exists: false }, slot: { exists: false } };
  const { waiting, left, isDivided, part } = await countWaiting(own, ports);
  if (part !== undefined) return { part };
  const queue = isDivided ? { ...own, part: own.part ?? 0 } : own;
  const position = 1 + waiting;
  const ticket = kind === "owner" ? { ticket: left + position } : {};
  const writes = announce(head, { set: { waiting: kind, ...ticket }, if: isOutside, position });
  for (const reason of [isFull(toPool(queue).limit), hasWaitingRun]) {
    try {
      await waitQueueStore(ports.table).add(head, queue, reason, writes);
      // Behind other runs: they may wait for a slot that is free, because the process that released it died.
      // A slot of another part may have become free before others could see that the run waits.
      if (reason === hasWaitingRun || isDivided) await dequeueNext(queue, ports);
      if (kind === "owner") await recountIfDue(queue.owner, ports, queue.part);
      return "waits";
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (error.failed.has("head") || error.failed.has("entry")) return "changed";
    }
  }
  return {};
}

/** Waiting runs of an owner up to which a position is counted by their entries. */
const MAX_COUNTED = 100;

/**
 * Reads the position of a run in its wait queue, from 1; undefined if it does not wait, or if many wait before it. Where many runs of its
 * owner wait, the position follows from the run's ticket and from the number of runs that have left the queue, so that nothing reads
 * the queue; a run that entered it later and was cancelled counts like one before it then.
 */
export async function readQueuePosition(
  head: RunHead,
  { table }: Pick<CapacityPorts, "table">,
): Promise<number | undefined> {
  if (head.deployment_entry !== undefined) return readDeploymentPosition(head.deployment_entry, table);
  if (head.waiting === undefined) return undefined;
  if (head.waiting === "owner" && head.ticket !== undefined) {
    const { waiting, left } = await counterStore(table).read(parseOwner(head));
    if (waiting > MAX_COUNTED) return Math.min(waiting, Math.max(1, head.ticket - left));
  }
  return readPosition(toWaitQueue(head, head.waiting), head.run_id, table);
}

interface Waiting {
  /** The runs in the queue, and those that have left it. */
  readonly waiting: number;
  readonly left: number;
  /** Whether the counters of the queue's owner have several parts. */
  readonly isDivided: boolean;
  /** Another part, with a free slot that no run waits for. */
  readonly part?: number;
}

async function countWaiting(queue: WaitQueue, { table }: Pick<CapacityPorts, "table">): Promise<Waiting> {
  const parts =
    queue.kind === "owner"
      ? await counterStore(table).readParts(queue.owner)
      : [parseCounters(await table.get(toPool(queue).counters))];
  const { waiting, left } = sumCounters(parts);
  const isDivided = parts.length > 1;
  const part = isDivided && waiting === 0 ? findFreeSlot(parts) : undefined;
  return { waiting, left, isDivided, ...(part === undefined ? {} : { part }) };
}

/** Grants free slots to the runs that have waited longest, one after the other, and requests their dispatch. */
export async function dequeueNext(first: WaitQueue, ports: CapacityPorts): Promise<void> {
  const store = waitQueueStore(ports.table);
  let queue = first;
  for (let granted = 0; granted < MAX_GRANTS; granted++) {
    const next = await store.oldest(queue);
    if (next === undefined) return;
    const { runId } = next;
    try {
      await store.grant(next, queue, ports.now() + GRANTED_CHECK_MS);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const { failed } = error;
      if (failed.has("ownerCounters") || failed.has("treeCounters")) {
        const part = await findOtherPart(queue, ports);
        if (part === undefined) return;
        queue = { ...queue, part };
        continue;
      }
      // The run was cancelled, or another process has granted it a slot: continue with the next one.
      if (failed.has("head") || failed.has("entry")) continue;
      // Its tree has no slot any more: it is dispatched, and takes or waits for one of its owner's.
      if (!(await leaveTreeQueue(runId, queue, ports))) continue;
    }
    await ports.queue.sendRun(runId, queue.owner).catch(() => undefined);
  }
}

/** Finds a free slot of another part of the owner's counters. */
async function findOtherPart({ kind, owner, part }: WaitQueue, { table }: CapacityPorts): Promise<number | undefined> {
  if (kind === "tree" || part === undefined) return undefined;
  const other = findFreeSlot(await counterStore(table).readParts(owner));
  return other === part ? undefined : other;
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
  dequeueNext({ kind: "owner", owner, part: 0, root: "", depth: 0 }, ports);
