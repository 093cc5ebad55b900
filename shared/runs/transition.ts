import { randomId } from "#shared/ids.ts";
import { isExecuting, STOP_TRIES_SECONDS, TRANSITIONS } from "#shared/records/run.ts";
import type { PendingStop, RunHead } from "#shared/records/run-head.ts";
import { type SlotTransition, slotChange } from "#shared/runs/capacity/slots.ts";
import type { PlacedSandbox } from "#shared/sandbox/sandbox.ts";
import { checkShard, keys, sortableTime } from "#shared/table/keys.ts";
import type { Conditions, TransactionWrite, Value } from "#shared/table/table.ts";
import type { EventType } from "#shared/wire/event.ts";
import type { RunState } from "#shared/wire/run.ts";
import { listChange } from "./index-entries.ts";

export interface TimelineEntry {
  readonly type: EventType;
  readonly data?: Readonly<Record<string, Value>>;
  /** Milliseconds; the present by default. */
  readonly occurredAt?: number;
  readonly uuid?: string;
}

export interface Change extends SlotTransition {
  /** The state to move to; absent for a change that is no move. */
  readonly to?: RunState;
  /** A state that the run passes through in the same transaction; `events` tell of both. */
  readonly via?: RunState;
  readonly events: readonly TimelineEntry[];
  /** A batch of messages takes a number of the same sequence, under a sort key of its own. */
  readonly messages?: Readonly<Record<string, Value>>;
  readonly set?: Readonly<Record<string, Value>>;
  readonly add?: Readonly<Record<string, number>>;
  readonly remove?: readonly string[];
  readonly if?: Conditions;
  /** When the reaper looks at the run again: a time, or not at all. */
  readonly checkAt?: number | Look | null;
  /** True where the execution that the move ends never got a sandbox, so that none is to be stopped. */
  readonly unstarted?: true;
  /** True where `updated_at` moves although the state does not (follow-ups, artifacts). */
  readonly touch?: boolean;
  readonly also?: readonly TransactionWrite[];
}

/** A look at `at`, unless one is planned between `from` and `to`: to move one costs two writes of its index. */
export interface Look {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** Attributes of an execution, gone from the head when the run waits again. */
export const EXECUTION_ATTRIBUTES = [
  "execution_id",
  "key_hash",
  "state_since",
  "heartbeat_at",
  "instance_id",
  "extended_from",
] as const;
/** Attributes of an ending, gone when the run goes on. */
export const ENDING_ATTRIBUTES = [
  "ended_at",
  "status_message",
  "stop_pending",
  "stop_by",
  "transcript_events",
] as const;

/** Attributes of a stop that is waited for, gone when somebody has told of it. */
export const STOP_ATTRIBUTES = ["stop_pending", "stop_by", "key_hash", "instance_id"] as const;

/**
 * The transaction of one change of a run: its head under the condition that nothing happened since it was read, the
 * events that tell of it, and the counters of slots. The sequence stays gapless because head and events are written
 * together. `root`: the head of the root of the run's tree, where the move gives back a slot of it.
 */
export function changeWrites(head: RunHead, change: Change, now: number, root?: RunHead): TransactionWrite[] {
  const to = change.to;
  if (to !== undefined) refuseIllegal(change.via === undefined ? [head.state, to] : [head.state, change.via, to]);
  const run = head.run_id;
  const executionId = head.execution_id;
  const appended = change.events.length + (change.messages === undefined ? 0 : 1);
  const touched = to !== undefined || change.touch === true;
  const slot = slotChange(head, change, root);
  const left = leftBehind(head, change, now);
  const lists = touched ? listChange(head, to, now) : undefined;

  const update: TransactionWrite = {
    kind: "update",
    key: keys.head(run),
    set: {
      ...(to === undefined ? {} : { state: to }),
      next_sequence: head.next_sequence + appended,
      ...lists?.set,
      ...nextCheck(head, change.checkAt),
      ...slot.set,
      ...left.set,
      ...change.set,
    },
    ...(change.add === undefined ? {} : { add: change.add }),
    remove: [
      ...(change.remove ?? []),
      ...slot.remove,
      ...left.remove,
      ...(lists?.remove ?? []),
      ...(change.checkAt === null ? ["check_shard", "check_at"] : []),
    ],
    if: {
      state: { eq: head.state },
      next_sequence: { eq: head.next_sequence },
      execution_id: executionId === undefined ? { exists: false } : { eq: executionId },
      ...slot.if,
      ...left.if,
      ...change.if,
    },
  };

  const events = change.events.map(
    (event, index): TransactionWrite => ({
      kind: "put",
      item: {
        ...keys.event(run, head.next_sequence + index),
        v: 1,
        sequence: head.next_sequence + index,
        uuid: event.uuid ?? randomId(),
        type: event.type,
        occurred_at: event.occurredAt ?? now,
        ...(executionId === undefined ? {} : { execution_id: executionId }),
        data: event.data ?? {},
      },
      if: { pk: { exists: false } },
    }),
  );
  const batch: TransactionWrite[] =
    change.messages === undefined
      ? []
      : [
          {
            kind: "put",
            item: {
              ...keys.messages(run, head.next_sequence + change.events.length),
              v: 1,
              sequence: head.next_sequence + change.events.length,
              occurred_at: now,
              ...(executionId === undefined ? {} : { execution_id: executionId }),
              ...change.messages,
            },
            if: { pk: { exists: false } },
          },
        ];
  return [update, ...events, ...batch, ...slot.writes, ...(lists?.writes ?? []), ...(change.also ?? [])];
}

/** The sandbox of an execution that the move ends is one to be stopped: noted with the move, so that nobody can forget it. */
function leftBehind(head: RunHead, { to, unstarted }: Change, now: number) {
  if (to === undefined || isExecuting(to) || !("sandbox" in head) || head.sandbox === undefined) {
    return { set: {}, remove: [], if: {} };
  }
  const { provider, handle } = head.sandbox;
  // A MicroVM is found by its handle alone: whoever starts it notes it here once that is known.
  const isFound = handle !== undefined || provider === "fargate";
  const stops = isFound && unstarted !== true;
  const placed = { provider, handle, executionId: head.execution_id };
  const set = stops ? { stops: stopsOf(head, placed, now) } : {};
  return { set, remove: ["sandbox"], if: sandboxUnchanged(head) };
}

/** That nobody has noted a sandbox, or taken one off the list, since the head was read. */
export const sandboxUnchanged = ({ sandbox_changes }: RunHead): Conditions => ({
  sandbox_changes: sandbox_changes === 0 ? { exists: false } : { eq: sandbox_changes },
});

/** Sandboxes that a head keeps at most. */
const MAX_STOPS = 5;

/** The sandboxes of the run that are to be stopped, with one more. */
export function stopsOf(head: RunHead, { provider, executionId, handle }: PlacedSandbox, now: number): PendingStop[] {
  const { stops = [] } = head;
  if (provider === "lambda") return stops;
  const known = handle === undefined ? {} : { handle };
  const stop = { provider, ...known, execution_id: executionId, by: now + STOP_TRIES_SECONDS * 1000 };
  return [...stops.filter(({ execution_id }) => execution_id !== executionId), stop].slice(-MAX_STOPS);
}

function nextCheck(head: RunHead, check: Change["checkAt"]): Readonly<Record<string, Value>> {
  if (check === undefined || check === null) return {};
  const planned = Number(head.check_at);
  if (typeof check !== "number" && planned >= check.from && planned <= check.to) return {};
  const at = typeof check === "number" ? check : check.at;
  return { check_shard: checkShard(head.run_id), check_at: sortableTime(at) };
}

function refuseIllegal(path: readonly RunState[]): void {
  for (const [index, from] of path.slice(0, -1).entries()) {
    const next = path[index + 1];
    if (next !== undefined && !TRANSITIONS[from].includes(next))
      throw new RangeError(`no move from ${from} to ${next}`);
  }
}
