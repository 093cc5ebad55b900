import type {
  HeadAttributes,
  HeadConditions,
  HeadIncrements,
  HeadUpdate,
  RemovableAttribute,
} from "#shared/records/head-attributes.ts";
import { isExecuting, TRANSITIONS } from "#shared/records/run.ts";
import { countUnchanged, type PendingStop, type RunHead } from "#shared/records/run-head.ts";
import type { End, SameState, Start } from "#shared/runs/capacity/slots.ts";
import { isStoppable, PROVIDERS, type Provider } from "#shared/sandbox/providers.ts";
import type { PlacedSandbox } from "#shared/sandbox/sandbox.ts";
import type { Value } from "#shared/table/table.ts";
import type { NamedWrites } from "#shared/table/transact.ts";
import type { EventType } from "#shared/wire/event.ts";
import type { RunState } from "#shared/wire/run.ts";

export interface TimelineEntry {
  readonly type: EventType;
  readonly data?: Readonly<Record<string, Value>>;
  /** Milliseconds; the present by default. */
  readonly occurredAt?: number;
  readonly uuid?: string;
}

/** What any change of a run may write. */
interface Writes {
  readonly events: readonly TimelineEntry[];
  /** A batch of messages takes a number of the same sequence, under a sort key of its own: after the events, or before them. */
  readonly messages?: Readonly<Record<string, Value>>;
  /** True if the messages came before the events. */
  readonly messagesFirst?: true;
  readonly set?: HeadAttributes;
  readonly add?: HeadIncrements;
  readonly remove?: readonly RemovableAttribute[];
  readonly if?: HeadConditions;
  /** When the reaper checks the run again; null: not at all. */
  readonly checkAt?: number | PlannedCheck | null;
  /** Further writes of the same transaction. */
  readonly also?: NamedWrites;
}

/** A change that is no state transition. */
export type AttributeChange = Writes &
  SameState & {
    readonly via?: never;
    readonly executionEnd?: never;
    /** True if `updated_at` changes although the state does not (follow-ups, artifacts). */
    readonly touch?: boolean;
  };

/** A transition to a state in which the run has an execution. */
export type StartChange = Writes &
  Start & {
    /** A state that the run passes through in the same transaction; `events` describe both transitions. */
    readonly via?: "PENDING";
    readonly executionEnd?: never;
    readonly touch?: never;
  };

/** A transition to a state in which the run has no execution: it waits for one, or has ended. */
export type EndChange = Writes &
  End & {
    /** A state that the run passes through in the same transaction; `events` describe both transitions. */
    readonly via?: "INPROGRESS";
    /**
     * Why the sandbox of the execution need not be stopped: it was never started, or the execution has ended by itself, with which a
     * worker stops it. @default the service ends the execution
     */
    readonly executionEnd?: "unstarted" | "itself";
    readonly touch?: never;
  };

export type Change = AttributeChange | StartChange | EndChange;

/** A check at `at`, unless one is planned between `from` and `to`: to reschedule one costs two writes of its index. */
interface PlannedCheck {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** Attributes of an execution, removed from the head when the run is queued again. */
export const EXECUTION_ATTRIBUTES = [
  "execution_id",
  "key_hash",
  "state_since",
  "heartbeat_at",
  "instance_id",
  "extended_from",
  "failing",
  "followups_taken",
  "idle",
] as const satisfies readonly RemovableAttribute[];
/** What counts the starts since the run's last execution began. */
export const START_COUNTERS = [
  "silent_starts",
  "deferred_starts",
  "failed_starts",
] as const satisfies readonly RemovableAttribute[];
/** Attributes of an ended run, removed when it continues. */
export const ENDING_ATTRIBUTES = [
  "ended_at",
  "status_message",
  "waiting_for",
  "approval",
  "stop_pending",
  "stop_by",
  "transcript_events",
  "transcript_spread",
] as const satisfies readonly RemovableAttribute[];

/** Attributes of a sandbox stop that is awaited, removed once it is confirmed. */
export const STOP_ATTRIBUTES = [
  "stop_pending",
  "stop_by",
  "key_hash",
  "instance_id",
] as const satisfies readonly RemovableAttribute[];

/**
 * The sandbox of the execution that a transition ends has to be stopped: the same transaction notes that, so that no way
 * out of an executing state can forget it.
 */
export function leaveSandbox(head: RunHead, { to, executionEnd }: Change, now: number): HeadUpdate {
  if (to === undefined || isExecuting(to) || !("sandbox" in head) || head.sandbox === undefined) {
    return { set: {}, remove: [], if: {} };
  }
  const { provider, handle } = head.sandbox;
  if (!isStoppable(provider)) return { set: {}, remove: ["sandbox"], if: {} };
  const { needsNoHandle, endsByItself } = PROVIDERS[provider];
  // The dispatcher that starts the sandbox adds it here once its handle is known.
  const isFound = handle !== undefined || needsNoHandle === true;
  const stops = isFound && executionEnd !== "unstarted" && !(endsByItself && executionEnd === "itself");
  const placed = { provider, handle, executionId: head.execution_id };
  const set = stops ? { stops: addPendingStop(head, placed, now) } : {};
  return { set, remove: ["sandbox"], if: sandboxUnchanged(head) };
}

/** No sandbox was noted, and none taken off the list, since the head was read. */
export const sandboxUnchanged = ({ sandbox_changes }: RunHead): HeadConditions => ({
  sandbox_changes: countUnchanged(sandbox_changes),
});

/** The most sandboxes that a head keeps. */
const MAX_STOPS = 5;

/** Adds a sandbox to those of the run that have to be stopped. */
export function addPendingStop(
  head: RunHead,
  { provider, executionId, handle }: Omit<PlacedSandbox, "provider"> & { provider: Provider },
  now: number,
): PendingStop[] {
  const { stops = [] } = head;
  const { stopTriesSeconds } = PROVIDERS[provider];
  if (stopTriesSeconds === undefined) return stops;
  const known = handle === undefined ? {} : { handle };
  const stop = { provider, ...known, execution_id: executionId, by: now + stopTriesSeconds * 1000 };
  return [...stops.filter(({ execution_id }) => execution_id !== executionId), stop].slice(-MAX_STOPS);
}

/** Refuses a change whose state transition the state machine does not have. */
export function refuseIllegalTransition(from: RunState, { to, via }: Pick<Change, "to" | "via">): void {
  if (to === undefined) return;
  const path = via === undefined ? [from, to] : [from, via, to];
  for (const [index, state] of path.slice(0, -1).entries()) {
    const next = path[index + 1];
    if (next !== undefined && !TRANSITIONS[state].includes(next)) {
      throw new RangeError(`no transition from ${state} to ${next}`);
    }
  }
}
