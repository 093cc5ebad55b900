import {
  DEFAULT_CONCURRENCY_LIMIT,
  DEFAULT_QUEUE_LIMIT,
  isExecuting,
  isTerminal,
  TREE_CONCURRENCY_LIMIT,
} from "#shared/records/run.ts";
import { isLocal, ownerOf, type RunHead, type SlotKind } from "#shared/records/run-head.ts";
import { keys, type Owner, ownerPk, runPk } from "#shared/table/keys.ts";
import type { Conditions, Key, TransactionWrite, Value } from "#shared/table/table.ts";
import type { RunState } from "#shared/wire/run.ts";

/**
 * Slots: the right to execute.
 *
 * A run without a parent takes one of its owner's, and keeps it while it or any run below it executes: the owner's limit
 * counts trees of runs. A child takes one of its tree's, of which there are so many at each depth; a parent that waits for
 * its children thus never waits for a slot that is its own. A child whose tree holds no slot of the owner takes one itself.
 *
 * Counters move in the transaction of the move that they count. A run that finds no slot is parked, and while any is
 * parked in a pool, newcomers park too: the oldest goes first.
 */
interface Pool {
  /** The item with the counters `running` and `parked`. */
  readonly counters: Key;
  readonly limit: number;
  readonly waitingPk: string;
  readonly waitingPrefix: string;
}

const ownerPool = (owner: Owner): Pool => ({
  counters: keys.counters(owner),
  limit: DEFAULT_CONCURRENCY_LIMIT,
  waitingPk: ownerPk(owner),
  waitingPrefix: "WAITING#",
});

const treePool = (root: string, depth: number): Pool => ({
  counters: keys.tree(root, depth),
  limit: TREE_CONCURRENCY_LIMIT,
  waitingPk: runPk(root),
  waitingPrefix: `WAITING#${depth}#`,
});

/** Whose slots a run takes, or waits for: its owner's, or those of its tree at its depth. */
export interface Line {
  readonly kind: SlotKind;
  readonly owner: Owner;
  readonly root: string;
  readonly depth: number;
}

export const waitQueueOf = (head: RunHead, kind: SlotKind): Line => ({
  kind,
  owner: ownerOf(head),
  root: head.root ?? head.run_id,
  depth: head.depth ?? 0,
});

export const poolOf = ({ kind, owner, root, depth }: Line): Pool =>
  kind === "owner" ? ownerPool(owner) : treePool(root, depth);

export const waitingKey = ({ waitingPk, waitingPrefix }: Pool, runId: string): Key => ({
  pk: waitingPk,
  sk: `${waitingPrefix}${runId}`,
});

/** A pool's limit lies beside its counters where it has one of its own, so nothing has to be read for it. */
const running = (pool: Pick<Pool, "limit">) =>
  ({ belowAttribute: "concurrency_limit", otherwise: pool.limit }) as const;

/** A slot is free. */
export const hasSlot = (pool: Pick<Pool, "limit">): Conditions => ({ running: { absentOr: running(pool) } });
/** A slot is free, and nobody waits for it already. */
const hasRoom = (pool: Pick<Pool, "limit">): Conditions => ({ ...hasSlot(pool), waiting: { absentOr: { below: 1 } } });
/** No slot is free. */
export const isFull = (pool: Pool): Conditions => ({
  running: { atLeastAttribute: "concurrency_limit", otherwise: pool.limit },
});

/** The queue of an owner has room for one more that waits. */
export const QUEUE_ROOM: Conditions = {
  queued: { absentOr: { belowAttribute: "queue_limit", otherwise: DEFAULT_QUEUE_LIMIT } },
};
/** As `QUEUE_ROOM`, and a new run without a parent would find a slot. */
export const RUN_ROOM: Conditions = {
  ...QUEUE_ROOM,
  ...hasRoom({ limit: DEFAULT_CONCURRENCY_LIMIT }),
};

/** `changes` tells a recount whether anything moved meanwhile. */
export const count = (key: Key, add: Readonly<Record<string, number>>, conditions?: Conditions): TransactionWrite => ({
  kind: "update",
  key,
  add: { ...add, changes: 1 },
  ...(conditions === undefined ? {} : { if: conditions }),
});

/** The change of an owner's queue, where there is any. */
const countQueued = (own: Key, queued: number): TransactionWrite[] => (queued === 0 ? [] : [count(own, { queued })]);

/** What a move does to slots: to the head itself, and to the counters. */
interface SlotChange {
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
  readonly if: Conditions;
  readonly writes: readonly TransactionWrite[];
}

const NOTHING: SlotChange = { set: {}, remove: [], if: {}, writes: [] };

export interface SlotTransition {
  readonly to?: RunState;
  /** The pool to take the slot from; an owner's by default. */
  readonly takes?: SlotKind;
  /** True where the run goes on at once in a new execution and keeps its slot while it is QUEUED. */
  readonly keepsSlot?: boolean;
}

/** True where `slotChange` needs the head of the tree's root. */
export const needsRoot = (head: RunHead, { to, keepsSlot }: SlotTransition): boolean =>
  to !== undefined && head.slot === "tree" && !isExecuting(to) && keepsSlot !== true;

/** What moving the run does to slots. `root`: the head of its tree's root, where `needsRoot` says so. */
export function slotChange(head: RunHead, move: SlotTransition, root: RunHead | undefined): SlotChange {
  const { to } = move;
  if (to === undefined || isLocal(head)) return NOTHING;
  const still: Conditions = { slot: same(head.slot), waiting: same(head.waiting) };
  const queued = Number(to === "QUEUED") - Number(head.state === "QUEUED");
  const own = keys.counters(ownerOf(head));

  if (head.waiting !== undefined) {
    const dequeued = leaveQueue(head, head.waiting, queued, own);
    return { set: {}, remove: ["waiting"], if: still, writes: dequeued };
  }
  if (isExecuting(to) && head.slot === undefined) return take(head, move.takes ?? "owner", queued, own, still);
  if (!isExecuting(to) && head.slot !== undefined && move.keepsSlot !== true) {
    return release(head, head.slot, queued, own, still, root);
  }
  return { ...NOTHING, if: still, writes: countQueued(own, queued) };
}

const same = (value: string | undefined) => (value === undefined ? { exists: false } : { eq: value });

function leaveQueue(head: RunHead, kind: SlotKind, queued: number, own: Key): TransactionWrite[] {
  const line = waitQueueOf(head, kind);
  const pool = poolOf(line);
  return [
    { kind: "delete", key: waitingKey(pool, head.run_id) },
    ...(kind === "owner"
      ? [count(own, { queued, waiting: -1 })]
      : [count(own, { queued }), count(pool.counters, { waiting: -1 })]),
  ];
}

function take(head: RunHead, kind: SlotKind, queued: number, own: Key, still: Conditions): SlotChange {
  const line = waitQueueOf(head, kind);
  const pool = poolOf(line);
  const writes =
    kind === "owner"
      ? [count(own, { queued, running: 1 }, hasRoom(pool))]
      : [count(own, { queued }), ...takeOfTree(line, pool, { running: 1 }, hasRoom(pool))];
  return { set: { slot: kind }, remove: [], if: still, writes };
}

/** The writes that take a slot of a tree while its root holds one of the owner's. */
export const takeOfTree = (
  { root }: Line,
  pool: Pool,
  add: Readonly<Record<string, number>>,
  room: Conditions,
): TransactionWrite[] => [
  count(pool.counters, add, room),
  { kind: "update", key: keys.head(root), add: { tree_running: 1 }, if: { slot: { exists: true } } },
];

function release(
  head: RunHead,
  kind: SlotKind,
  queued: number,
  own: Key,
  still: Conditions,
  root: RunHead | undefined,
): SlotChange {
  const gone = { set: {}, remove: ["slot"], if: still };
  if (kind === "owner") {
    // Runs below it execute: the tree keeps the slot until the last of them has ended.
    if (head.tree_running > 0) {
      const writes = countQueued(own, queued);
      return { ...NOTHING, if: { ...still, tree_running: { atLeast: 1 } }, writes };
    }
    const alone: Conditions = head.root === undefined ? { tree_running: { absentOr: { below: 1 } } } : {};
    return { ...gone, if: { ...still, ...alone }, writes: [count(own, { queued, running: -1 })] };
  }
  if (root === undefined) throw new Error("the root of the tree is needed");
  const freed = count(poolOf(waitQueueOf(head, "tree")).counters, { running: -1 });
  const less = { kind: "update", key: keys.head(root.run_id), add: { tree_running: -1 } } as const;
  const isLast = isTerminal(root.state) && root.tree_running <= 1;
  if (isLast) {
    const last: TransactionWrite = {
      ...less,
      remove: ["slot"],
      if: { state: { eq: root.state }, tree_running: { eq: root.tree_running }, slot: { exists: true } },
    };
    return { ...gone, writes: [count(own, { queued, running: -1 }), freed, last] };
  }
  const others: Conditions = isTerminal(root.state) ? { tree_running: { atLeast: 2 } } : { state: { in: NOT_ENDED } };
  return {
    ...gone,
    writes: [...countQueued(own, queued), freed, { ...less, if: others }],
  };
}

const NOT_ENDED = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"];
