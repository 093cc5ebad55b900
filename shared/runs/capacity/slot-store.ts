import type { HeadConditions, HeadUpdate } from "#shared/records/head-attributes.ts";
import { DEFAULT_CONCURRENCY_LIMIT, isExecuting, isTerminal, TREE_CONCURRENCY_LIMIT } from "#shared/records/run.ts";
import { isLocal, parseOwner, type RunHead, type SlotKind } from "#shared/records/run-head.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { type Conditions, type Key, type Update, valueUnchanged } from "#shared/table/table.ts";
import type { NamedWrites } from "#shared/table/transact.ts";
import { hasRoom, type SlotTransition, toWaitQueue, type WaitQueue } from "./slots.ts";

/** The slots of an owner, or of a tree of runs at a depth. */
interface Pool {
  /** The item with the counters `running` and `waiting`. */
  readonly counters: Key;
  readonly limit: number;
  /** The key of a run's entry in the wait queue. */
  readonly waitingKey: (runId: string) => Key;
}

export const toPool = ({ kind, owner, part, root, depth }: WaitQueue): Pool =>
  kind === "owner"
    ? {
        counters: keys.counterPart(owner, part),
        limit: DEFAULT_CONCURRENCY_LIMIT,
        waitingKey: (runId) => keys.waitingForOwner(owner, runId),
      }
    : {
        counters: keys.tree(root, depth),
        limit: TREE_CONCURRENCY_LIMIT,
        waitingKey: (runId) => keys.waitingForTree(root, depth, runId),
      };

/** Changes counters; `changes` shows a recount whether any changed in the meantime. */
export const count = (key: Key, add: Readonly<Record<string, number>>, conditions?: Conditions): Update => ({
  kind: "update",
  key,
  add: { ...add, changes: 1 },
  ...(conditions === undefined ? {} : { if: conditions }),
});

/** Changes an owner's number of queued runs, if it changes. */
const countQueued = (own: Key, queued: number): Update | undefined =>
  queued === 0 ? undefined : count(own, { queued });

/** What a state transition changes of slots: attributes of the head itself, and counters. */
interface SlotChange extends HeadUpdate {
  readonly writes: NamedWrites;
}

const NO_CHANGE: SlotChange = { set: {}, remove: [], if: {}, writes: {} };

/** What a run's transition starts from: its head, its owner's counters, and how it changes their number of queued runs. */
interface Start {
  readonly head: RunHead;
  readonly own: Key;
  readonly queued: number;
  /** The run's slot and its place in a wait queue are as they were read. */
  readonly isUnchanged: HeadConditions;
}

/**
 * Builds what a state transition of the run changes of slots.
 * @param root the head of its tree's root, where `needsRoot` is true
 */
export function toSlotChange(head: RunHead, transition: SlotTransition, root: RunHead | undefined): SlotChange {
  const { to, ownerSlot } = transition;
  if ((to === undefined && ownerSlot === undefined) || isLocal(head)) return NO_CHANGE;
  const start: Start = {
    head,
    own: keys.counterPart(parseOwner(head), head.part),
    queued: to === undefined ? 0 : Number(to === "QUEUED") - Number(head.state === "QUEUED"),
    isUnchanged: { slot: valueUnchanged(head.slot), waiting: valueUnchanged(head.waiting) },
  };
  if (to === undefined) return ownerSlot === "take" ? takeSlot(start, "owner") : releaseOwnerSlot(start);
  if (head.waiting !== undefined) return leaveQueue(start, head.waiting);
  if (isExecuting(to) && head.slot === undefined && head.worker_host === undefined)
    return takeSlot(start, transition.takes ?? "owner", transition.part);
  if (!isExecuting(to) && transition.keepsSlot !== true) {
    if (head.slot === "owner") return releaseOwnerSlot(start);
    if (head.slot === "tree") return releaseTreeSlot(start, root);
  }
  return { ...NO_CHANGE, if: start.isUnchanged, writes: { ownerCounters: countQueued(start.own, start.queued) } };
}

function leaveQueue({ head, own, queued, isUnchanged }: Start, kind: SlotKind): SlotChange {
  const pool = toPool(toWaitQueue(head, kind));
  return {
    set: {},
    remove: head.ticket === undefined ? ["waiting"] : ["waiting", "ticket"],
    if: isUnchanged,
    writes: {
      waitQueueEntry: { kind: "delete", key: pool.waitingKey(head.run_id) },
      ...(kind === "owner"
        ? { ownerCounters: count(own, { queued, waiting: -1, left: 1 }) }
        : { ownerCounters: count(own, { queued }), treeCounters: count(pool.counters, { waiting: -1 }) }),
    },
  };
}

function takeSlot({ head, own, queued, isUnchanged }: Start, kind: SlotKind, part = head.part): SlotChange {
  const queue = toWaitQueue(head, kind);
  const room = hasRoom(toPool(queue).limit);
  const writes =
    kind === "owner"
      ? takeOwnerSlot({ owner: queue.owner, from: head.part, to: part, isQueued: false }, { queued }, room)
      : { ownerCounters: count(own, { queued }), ...takeTreeSlot(queue, { running: 1 }, room) };
  return { set: toSlotAttributes(head, { kind, part }), remove: [], if: isUnchanged, writes };
}

/** A slot that a run takes: of its tree, or of its owner in the part that counts the run, unless another one is named. */
export interface SlotChoice {
  readonly kind: SlotKind;
  readonly part?: number | undefined;
}

/** The attributes of a run that takes a slot: whose it is, and the part that counts the run from then on, where that is another one. */
export const toSlotAttributes = (
  head: RunHead,
  { kind, part = head.part ?? 0 }: SlotChoice,
): { readonly slot: SlotKind; readonly part?: number } => ({
  slot: kind,
  ...(kind === "owner" && part !== (head.part ?? 0) ? { part } : {}),
});

/** Builds the writes by which a queued run takes a slot before it starts; none if it has one. */
export function toHeldSlot(head: RunHead, { kind, part = head.part }: SlotChoice): NamedWrites {
  if (head.slot !== undefined) return {};
  const queue = toWaitQueue(head, kind);
  const room = hasRoom(toPool(queue).limit);
  return kind === "owner"
    ? takeOwnerSlot({ owner: queue.owner, from: head.part, to: part, isQueued: true }, {}, room)
    : takeTreeSlot(queue, { running: 1 }, room);
}

/** What adds a run that goes on executing to the wait queue for a slot of its owner. */
export function toOwnerQueueEntry(head: RunHead): Pick<SlotChange, "set" | "writes"> {
  const pool = toPool(toWaitQueue(head, "owner"));
  return {
    set: { waiting: "owner" },
    writes: {
      ownerCounters: count(pool.counters, { waiting: 1 }),
      waitQueueEntry: {
        kind: "put",
        item: { ...pool.waitingKey(head.run_id), v: 1, run_id: head.run_id, ...toPartOf(head), idle: true },
        if: { pk: { exists: false } },
      },
    },
  };
}

/** The part that counts a run, as the entry of the wait queue names it. */
export const toPartOf = ({ part }: RunHead): { readonly part?: number } => (part === undefined ? {} : { part });

interface OwnerSlot {
  readonly owner: Owner;
  /** The part of the owner's counters that counts the run, and the part of its slot. @default the first */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Whether the run is queued when it has the slot. */
  readonly isQueued: boolean;
}

/**
 * The writes that take a slot of an owner. Where it is of another part, that one counts the run from then on.
 * @param change what else changes in the part that counts the run
 */
export function takeOwnerSlot(
  { owner, from = 0, to = 0, isQueued }: OwnerSlot,
  change: Readonly<Record<string, number>>,
  room: Conditions,
): NamedWrites {
  const slot = keys.counterPart(owner, to);
  if (to === from) return { ownerCounters: count(slot, { running: 1, ...change }, room) };
  const { queued = 0 } = change;
  const moved = isQueued ? 1 : 0;
  return {
    ownerCounters: count(slot, { running: 1, queued: moved }, room),
    formerCounters: count(keys.counterPart(owner, from), { ...change, queued: queued - moved }),
  };
}

/** The writes that take a slot of a tree while its root holds one of the owner's. */
export const takeTreeSlot = (queue: WaitQueue, add: Readonly<Record<string, number>>, room: Conditions) => ({
  treeCounters: count(toPool(queue).counters, add, room),
  root: {
    kind: "update",
    key: keys.head(queue.root),
    add: { tree_running: 1 },
    if: { slot: { exists: true } },
  } satisfies Update,
});

function releaseOwnerSlot({ head, own, queued, isUnchanged }: Start): SlotChange {
  // Runs below it execute: the tree keeps the slot until the last of them has ended.
  if (head.tree_running > 0) {
    return {
      ...NO_CHANGE,
      if: { ...isUnchanged, tree_running: { atLeast: 1 } },
      writes: { ownerCounters: countQueued(own, queued) },
    };
  }
  const hasNoChildren: HeadConditions = head.root === undefined ? { tree_running: { absentOr: { below: 1 } } } : {};
  return {
    set: {},
    remove: ["slot"],
    if: { ...isUnchanged, ...hasNoChildren },
    writes: { ownerCounters: count(own, { queued, running: -1 }) },
  };
}

function releaseTreeSlot({ head, own, queued, isUnchanged }: Start, root: RunHead | undefined): SlotChange {
  if (root === undefined) throw new Error("the root of the tree is needed");
  const released: HeadUpdate = { set: {}, remove: ["slot"], if: isUnchanged };
  const treeCounters = count(toPool(toWaitQueue(head, "tree")).counters, { running: -1 });
  const update = { kind: "update", key: keys.head(root.run_id), add: { tree_running: -1 } } as const;
  // The last run of a tree whose root has ended gives the owner's slot back as well.
  if (isTerminal(root.state) && root.tree_running <= 1) {
    const isLast: Conditions = {
      state: { eq: root.state },
      tree_running: { eq: root.tree_running },
      slot: { exists: true },
    };
    const counters =
      (root.part ?? 0) === (head.part ?? 0)
        ? { ownerCounters: count(own, { queued, running: -1 }) }
        : {
            ownerCounters: count(keys.counterPart(parseOwner(head), root.part), { running: -1 }),
            formerCounters: countQueued(own, queued),
          };
    return { ...released, writes: { ...counters, treeCounters, root: { ...update, remove: ["slot"], if: isLast } } };
  }
  const hasOthers: Conditions = isTerminal(root.state)
    ? { tree_running: { atLeast: 2 } }
    : { state: { in: ACTIVE_STATES } };
  return {
    ...released,
    writes: { ownerCounters: countQueued(own, queued), treeCounters, root: { ...update, if: hasOthers } },
  };
}

const ACTIVE_STATES = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"];
