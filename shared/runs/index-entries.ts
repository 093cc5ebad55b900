import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import { activePart, endedPart, groupKey, keys, sortableTime } from "#shared/table/keys.ts";
import type { TransactionWrite, Value } from "#shared/table/table.ts";
import type { RunState } from "#shared/wire/run.ts";

interface ListChange {
  /** Attributes of the head. */
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
  readonly writes: readonly TransactionWrite[];
}

/**
 * What a move, or a touch (`to` is undefined), changes in the orders of the lists. A run that has ended is in the group
 * of its creator and in that of its schedule by the time of its end; one that is active is in neither, since each move
 * would then cost two writes of each index: readers find it among the active runs of its scope, which are few.
 */
export function listChange(head: RunHead, to: RunState | undefined, now: number): ListChange {
  const { run_id: run, scope, p } = head;
  const state = to ?? head.state;
  const updated_key = `${sortableTime(now)}#${run}`;
  if (isTerminal(state)) {
    const group = groupKey(scope, "creator", p.creator);
    return {
      set: { updated_key, updated_scope: endedPart(scope), group },
      remove: ["active_scope"],
      writes:
        p.schedule === undefined
          ? []
          : [scheduled(run, { group: groupKey(scope, "schedule", p.schedule), updated_key, state })],
    };
  }
  if (!isTerminal(head.state)) return { set: { updated_key }, remove: [], writes: [] };
  const revived = { kind: "update", key: keys.scheduleEntry(run), remove: ["group", "updated_key", "state"] } as const;
  return {
    set: { updated_key, updated_scope: activePart(scope), active_scope: scope },
    remove: ["group"],
    writes: p.schedule === undefined ? [] : [revived],
  };
}

const scheduled = (run: string, set: Readonly<Record<string, Value>>): TransactionWrite => ({
  kind: "update",
  key: keys.scheduleEntry(run),
  set,
});
