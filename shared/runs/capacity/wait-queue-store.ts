import { type RunHead, type SlotKind, toCheckAttributes } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import type { Conditions, Table } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { count, takeOwnerSlot, takeTreeSlot, toPartOf, toPool } from "./slot-store.ts";
import { hasFreeSlot, type WaitQueue } from "./slots.ts";

/** A run that waits for a slot. */
interface WaitingRun {
  readonly runId: string;
  /** The part of its owner's counters that counts it. */
  readonly part: number;
  /** Whether it waits with its execution, which takes a follow-up then. */
  readonly isIdle: boolean;
}

/** The runs that wait for a slot, one entry each, the oldest first. */
export function waitQueueStore(table: Table) {
  return {
    /**
     * Adds a queued run while the pool meets `reason`. `writes` changes its head and reports that it waits.
     * @throws ConflictError: `head` or `entry` where the run is not queued any more or waits already, `counters` or `root` where it need not wait
     */
    async add(head: RunHead, queue: WaitQueue, reason: Conditions, writes: NamedWrites): Promise<void> {
      const pool = toPool(queue);
      await transact(table, {
        counters: count(pool.counters, { waiting: 1 }, reason),
        ...writes,
        entry: {
          kind: "put",
          item: {
            ...pool.waitingKey(head.run_id),
            v: 1,
            run_id: head.run_id,
            ...(queue.kind === "owner" ? toPartOf(head) : {}),
          },
          if: { pk: { exists: false } },
        },
        root: checkRootSlot(head, queue.kind),
      });
    },

    /** The run that has waited longest. */
    async oldest(queue: WaitQueue): Promise<WaitingRun | undefined> {
      const { pk, sk: prefix } = toPool(queue).waitingKey("");
      const {
        items: [entry],
      } = await table.query({ pk, prefix, limit: 1 });
      if (entry === undefined) return undefined;
      const { part, idle } = entry;
      return { runId: entry.sk.slice(prefix.length), part: Number(part ?? 0), isIdle: idle === true };
    },

    /**
     * Gives a waiting run a free slot of the queue's part, and lets the reaper look at it at `checkAt`.
     * @throws ConflictError: `head` or `entry` where it does not wait any more, `ownerCounters` or `treeCounters` where no slot is
     *   free, `root` where its tree has no slot
     */
    async grant(run: WaitingRun, queue: WaitQueue, checkAt: number): Promise<void> {
      const { kind, owner, part = 0 } = queue;
      const pool = toPool(queue);
      const isFree = hasFreeSlot(pool.limit);
      await transact(table, {
        head: giveSlot(run, queue, checkAt),
        entry: { kind: "delete", key: pool.waitingKey(run.runId), if: { pk: { exists: true } } },
        ...(kind === "owner"
          ? takeOwnerSlot({ owner, from: run.part, to: part, isQueued: !run.isIdle }, { waiting: -1, left: 1 }, isFree)
          : takeTreeSlot(queue, { running: 1, waiting: -1 }, isFree)),
      });
    },

    /**
     * Removes a run from the queue of its tree.
     * @throws ConflictError if it does not wait there any more
     */
    async remove(runId: string, queue: WaitQueue, checkAt: number): Promise<void> {
      const pool = toPool(queue);
      await transact(table, {
        head: {
          kind: "update",
          key: keys.head(runId),
          set: toCheckAttributes(runId, checkAt),
          remove: ["waiting"],
          if: { state: { eq: "QUEUED" }, waiting: { eq: "tree" } },
        },
        entry: { kind: "delete", key: pool.waitingKey(runId), if: { pk: { exists: true } } },
        counters: count(pool.counters, { waiting: -1 }),
      });
    },
  };
}

/** Gives a waiting run the slot in its head. */
function giveSlot({ runId, part }: WaitingRun, queue: WaitQueue, checkAt: number): NamedWrites[string] {
  const { kind } = queue;
  const to = queue.part ?? 0;
  return {
    kind: "update",
    key: keys.head(runId),
    set: {
      slot: kind,
      ...(kind === "owner" && part !== to ? { part: to } : {}),
      ...toCheckAttributes(runId, checkAt),
    },
    remove: ["waiting", "ticket"],
    // A run that has got a follow-up while it was idle waits with its execution.
    if: { state: { in: ["QUEUED", "INPROGRESS"] }, waiting: { eq: kind }, slot: { exists: false } },
  };
}

/** Reads the position of a run in a wait queue, from 1; undefined if it does not wait there. */
export async function readPosition(
  queue: WaitQueue,
  runId: string,
  table: Pick<Table, "query">,
): Promise<number | undefined> {
  const { pk, sk: from } = toPool(queue).waitingKey("");
  const { items } = await table.query({ pk, from, to: from + runId });
  return items.at(-1)?.sk === from + runId ? items.length : undefined;
}

/** A run cannot wait for a slot of a tree whose root gave its own slot back. */
function checkRootSlot({ root }: RunHead, kind: SlotKind): NamedWrites[string] {
  if (kind === "owner" || root === undefined) return undefined;
  return { kind: "check", key: keys.head(root), if: { slot: { exists: true } } };
}
