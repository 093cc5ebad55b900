import type { RunQueue } from "#shared/queue/run-queue.ts";
import {
  DEFAULT_CONCURRENCY_LIMIT,
  DEFAULT_QUEUE_LIMIT,
  type ExecutingState,
  isExecuting,
  type TerminalState,
} from "#shared/records/run.ts";
import { parseOwner, type RunHead, type SlotKind } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Conditions, Table } from "#shared/table/table.ts";

/**
 * Slots: the right to execute.
 *
 * A run without a parent takes one of its owner's slots, and keeps it while it or any run below it executes: the owner's
 * limit counts trees of runs. A child takes one of its tree's slots, of which there is a fixed number at each depth; a parent
 * that waits for its children thus never waits for its own slot. A child whose tree holds no slot of the owner takes one itself.
 *
 * Counters change in the transaction of the state transition that they count. A run that finds no free slot waits, and
 * while any run waits for a pool, new runs wait too: the oldest goes first.
 */
export interface WaitQueue {
  /** Whose slots a run takes, or waits for: its owner's, or those of its tree at its depth. */
  readonly kind: SlotKind;
  readonly owner: Owner;
  /** The part of the owner's counters that slots are taken from first; absent where they may have one item only. */
  readonly part?: number | undefined;
  readonly root: string;
  readonly depth: number;
}

/** What waiting for capacity, and granting it, needs. */
export interface CapacityPorts {
  readonly table: Table;
  readonly queue: RunQueue;
  readonly now: () => number;
}

export const toWaitQueue = (head: RunHead, kind: SlotKind): WaitQueue => ({
  kind,
  owner: parseOwner(head),
  ...(head.part === undefined ? {} : { part: head.part }),
  root: head.root ?? head.run_id,
  depth: head.depth ?? 0,
});

/** A pool stores a limit of its own next to its counters, so nothing has to be read for it. */
const runningBelow = (limit: number) => ({ belowAttribute: "concurrency_limit", otherwise: limit }) as const;

/** A slot is free. */
export const hasFreeSlot = (limit: number): Conditions => ({ running: { absentOr: runningBelow(limit) } });
/** A slot is free, and no run waits for it. */
export const hasRoom = (limit: number): Conditions => ({ ...hasFreeSlot(limit), waiting: { absentOr: { below: 1 } } });
/** No slot is free. */
export const isFull = (limit: number): Conditions => ({
  running: { atLeastAttribute: "concurrency_limit", otherwise: limit },
});
/** Another run waits already. */
export const hasWaitingRun: Conditions = { waiting: { atLeast: 1 } };

/** The queue of an owner has room for one more run. */
export const QUEUE_ROOM: Conditions = {
  queued: { absentOr: { belowAttribute: "queue_limit", otherwise: DEFAULT_QUEUE_LIMIT } },
};
/** As `QUEUE_ROOM`, and a new run without a parent would find a slot. */
export const RUN_ROOM: Conditions = { ...QUEUE_ROOM, ...hasRoom(DEFAULT_CONCURRENCY_LIMIT) };

/**
 * The right of a run to be one of the deployment's executions. The deployment has one item whose `running` never exceeds the limit.
 * A shard leases a block of places, which all count as running there, and has the `free` ones of them; so starts and ends write the items
 * of shards, and the sum of executions is exact.
 */
export type Place =
  /** Counted in the deployment's item itself. */
  | { readonly limit: number; readonly shard?: never; readonly block?: never; readonly shards?: never }
  /** A free place of a shard. */
  | { readonly shard: number; readonly limit?: never; readonly block?: never; readonly shards?: never }
  /** The first of the places that the shard leases with it. */
  | {
      readonly shard: number;
      readonly limit: number;
      readonly block: number;
      /** The most shards that the deployment has had under any of its limits. */
      readonly shards: number;
    };

/** A run begins to execute, or goes on with it in another state. */
export interface Start {
  readonly to: ExecutingState;
  /** The pool to take the slot from; the owner's by default. */
  readonly takes?: SlotKind;
  /** The part of the owner's counters to take its slot from. @default the one that counts the run */
  readonly part?: number | undefined;
  /** The place that a run takes which begins to execute, in a deployment that limits its executions. @default none */
  readonly place?: Place | undefined;
  readonly keepsSlot?: never;
  readonly ownerSlot?: never;
}

/** A run has no execution afterwards. */
export interface End {
  readonly to: "QUEUED" | TerminalState;
  /** True if the run continues immediately in a new execution and keeps its slot while it is QUEUED. */
  readonly keepsSlot?: boolean;
  readonly takes?: never;
  readonly part?: never;
  readonly place?: never;
  readonly ownerSlot?: never;
}

/** A run stays in its state. */
export interface SameState {
  readonly to?: never;
  /** What a run that goes on executing does with its owner's slot: it gives it back while it waits for a follow-up. */
  readonly ownerSlot?: "release" | "take";
  readonly takes?: never;
  readonly part?: never;
  readonly place?: never;
  readonly keepsSlot?: never;
}

/** What a change of a run says of its slots. */
export type SlotTransition = Start | End | SameState;

/** True if releasing the run's slot needs the head of the tree's root. */
export const needsRoot = (head: RunHead, { to, keepsSlot }: SlotTransition): boolean =>
  to !== undefined && head.slot === "tree" && !isExecuting(to) && keepsSlot !== true;
