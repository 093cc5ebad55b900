import { randomId } from "#shared/ids.ts";
import type { HeadUpdate } from "#shared/records/head-attributes.ts";
import { isTerminal } from "#shared/records/run.ts";
import { type RunHead, toCheckAttributes } from "#shared/records/run-head.ts";
import { toExecutionCount } from "#shared/runs/capacity/execution-count-store.ts";
import { toSlotChange } from "#shared/runs/capacity/slot-store.ts";
import { activePart, endedPart, groupKey, keys, sortableTime } from "#shared/table/keys.ts";
import { type Put, type Update, valueUnchanged } from "#shared/table/table.ts";
import type { NamedWrites } from "#shared/table/transact.ts";
import type { RunState } from "#shared/wire/run.ts";
import { type Change, leaveSandbox, refuseIllegalTransition } from "./transition.ts";

/**
 * Builds the transaction of one change of a run: its head, under the condition that nothing changed since it was read, the
 * events that describe the change, and the counters of slots. The sequence stays gapless because head and events are written
 * together. The writes are `head`, `events`, `messages`, those of slots (`ownerCounters`, `treeCounters`, `root`,
 * `waitQueueEntry`), those of the deployment (`executions`, `deploymentEntry`, `ownerTurn`), `scheduleEntry`, and those of `Change.also`.
 * @param root the head of the root of the run's tree, where the transition releases a slot of the tree
 * @throws RangeError if the state machine has no such transition
 */
export function toTransitionWrites(head: RunHead, change: Change, now: number, root?: RunHead): NamedWrites {
  refuseIllegalTransition(head.state, change);
  const isTouched = change.to !== undefined || change.touch === true;
  const slots = toSlotChange(head, change, root);
  const counted = toExecutionCount(head, change);
  const lists = isTouched ? toListChange(head, change.to, now) : undefined;
  return {
    head: toHeadUpdate(head, change, { lists, slots, counted, sandbox: leaveSandbox(head, change, now) }),
    events: toEventPuts(head, change, now),
    messages: toMessagesPut(head, change, now),
    ...slots.writes,
    ...counted.writes,
    scheduleEntry: lists?.scheduleEntry,
    ...change.also,
  };
}

/** The parts of the update of a head that follow from the change of its run. */
interface DerivedUpdates {
  readonly lists: ListChange | undefined;
  readonly counted: HeadUpdate;
  readonly slots: HeadUpdate;
  readonly sandbox: HeadUpdate;
}

function toHeadUpdate(head: RunHead, change: Change, { lists, slots, counted, sandbox }: DerivedUpdates): Update {
  const { execution_id: executionId, next_sequence } = head;
  const appended = change.events.length + (change.messages === undefined ? 0 : 1);
  return {
    kind: "update",
    key: keys.head(head.run_id),
    set: {
      ...(change.to === undefined ? {} : { state: change.to }),
      next_sequence: next_sequence + appended,
      ...lists?.set,
      ...toNextCheck(head, change.checkAt),
      ...slots.set,
      ...counted.set,
      ...sandbox.set,
      ...change.set,
    },
    ...(change.add === undefined ? {} : { add: change.add }),
    remove: [
      ...(change.remove ?? []),
      ...slots.remove,
      ...counted.remove,
      ...sandbox.remove,
      ...(lists?.remove ?? []),
      ...(change.checkAt === null ? ["check_shard", "check_at"] : []),
    ],
    if: {
      state: { eq: head.state },
      next_sequence: { eq: next_sequence },
      execution_id: valueUnchanged(executionId),
      ...slots.if,
      ...counted.if,
      ...sandbox.if,
      ...change.if,
    },
  };
}

function toNextCheck(head: RunHead, check: Change["checkAt"]): IndexAttributes {
  if (check === undefined || check === null) return {};
  if (typeof check === "number") return toCheckAttributes(head.run_id, check);
  const planned = Number(head.check_at);
  return planned >= check.from && planned <= check.to ? {} : toCheckAttributes(head.run_id, check.at);
}

const pickExecution = ({ execution_id }: RunHead) => (execution_id === undefined ? {} : { execution_id });

const toEventPuts = (head: RunHead, { events, messages, messagesFirst }: Change, now: number): Put[] =>
  events.map((event, index) => {
    const sequence = head.next_sequence + index + (messagesFirst && messages !== undefined ? 1 : 0);
    return {
      kind: "put",
      item: {
        ...keys.event(head.run_id, sequence),
        v: 1,
        sequence,
        uuid: event.uuid ?? randomId(),
        type: event.type,
        occurred_at: event.occurredAt ?? now,
        ...pickExecution(head),
        data: event.data ?? {},
      },
      if: { pk: { exists: false } },
    };
  });

function toMessagesPut(head: RunHead, { events, messages, messagesFirst }: Change, now: number): Put | undefined {
  if (messages === undefined) return undefined;
  const sequence = head.next_sequence + (messagesFirst ? 0 : events.length);
  return {
    kind: "put",
    item: {
      ...keys.messages(head.run_id, sequence),
      v: 1,
      sequence,
      occurred_at: now,
      ...pickExecution(head),
      ...messages,
    },
    if: { pk: { exists: false } },
  };
}

/** Attributes of the head that only indexes read. */
type IndexAttributes = Readonly<Record<string, string>>;

interface ListChange {
  readonly set: IndexAttributes;
  readonly remove: readonly string[];
  /** The change of the run's entry in the list of its schedule's runs, where it has one. */
  readonly scheduleEntry: Update | undefined;
}

/**
 * Builds what a state transition, or a touch (`to` is undefined), changes in the orders of the lists. A run that has ended
 * is in the group of its creator and in that of its schedule by the time of its end; an active run is in neither, since each
 * transition would then cost two writes of each index: readers find it among the active runs of its scope, which are few.
 */
function toListChange(head: RunHead, to: RunState | undefined, now: number): ListChange {
  const { run_id: run, scope, p } = head;
  const state = to ?? head.state;
  const updated_key = `${sortableTime(now)}#${run}`;
  const updateEntry = (change: Pick<Update, "set" | "remove">): Update | undefined =>
    p.schedule === undefined ? undefined : { kind: "update", key: keys.scheduleEntry(run), ...change };
  if (isTerminal(state)) {
    const schedule = groupKey(scope, "schedule", p.schedule ?? "");
    return {
      set: { updated_key, updated_scope: endedPart(scope), group: groupKey(scope, "creator", p.creator) },
      remove: ["active_scope"],
      scheduleEntry: updateEntry({ set: { group: schedule, updated_key, state } }),
    };
  }
  if (!isTerminal(head.state)) return { set: { updated_key }, remove: [], scheduleEntry: undefined };
  return {
    set: { updated_key, updated_scope: activePart(scope, run), active_scope: scope },
    remove: ["group"],
    scheduleEntry: updateEntry({ remove: ["group", "updated_key", "state"] }),
  };
}
