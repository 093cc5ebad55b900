import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import { activePart, endedPart, groupKey, keys, sortableTime } from "#shared/table/keys.ts";
import type { Update, Value } from "#shared/table/table.ts";
import type { RunState } from "#shared/wire/run.ts";

interface ListChange {
  /** Attributes of the head. */
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
  /** The change of the run's entry in the list of its schedule's runs, where it has one. */
  readonly scheduleEntry: Update | undefined;
}

/**
 * Builds what a state transition, or a touch (`to` is undefined), changes in the orders of the lists. A run that has ended
 * is in the group of its creator and in that of its schedule by the time of its end; an active run is in neither, since each
 * transition would then cost two writes of each index: readers find it among the active runs of its scope, which are few.
 */
export function toListChange(head: RunHead, to: RunState | undefined, now: number): ListChange {
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
    set: { updated_key, updated_scope: activePart(scope), active_scope: scope },
    remove: ["group"],
    scheduleEntry: updateEntry({ remove: ["group", "updated_key", "state"] }),
  };
}
