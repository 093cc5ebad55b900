import { randomId } from "#shared/ids.ts";
import { checkShard, keys, sortableTime } from "#shared/table/keys.ts";
import type { Conditions, TransactionWrite, Value } from "#shared/table/table.ts";
import type { TimelineType } from "#shared/wire/event.ts";
import type { RunState } from "#shared/wire/run.ts";
import { listChange } from "./list-entries.ts";
import { MOVES } from "./run.ts";
import type { RunHead } from "./run-head.ts";
import { type SlotMove, slotChange } from "./slots.ts";

export interface TimelineEntry {
  readonly type: TimelineType;
  readonly data?: Readonly<Record<string, Value>>;
  /** Milliseconds; the present by default. */
  readonly occurredAt?: number;
  readonly uuid?: string;
}

export interface Change extends SlotMove {
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
  "beat_at",
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
      ...change.set,
    },
    ...(change.add === undefined ? {} : { add: change.add }),
    remove: [
      ...(change.remove ?? []),
      ...slot.remove,
      ...(lists?.remove ?? []),
      ...(change.checkAt === null ? ["check_shard", "check_at"] : []),
    ],
    if: {
      state: { eq: head.state },
      next_sequence: { eq: head.next_sequence },
      execution_id: executionId === undefined ? { exists: false } : { eq: executionId },
      ...slot.if,
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
    if (next !== undefined && !MOVES[from].includes(next)) throw new RangeError(`no move from ${from} to ${next}`);
  }
}
