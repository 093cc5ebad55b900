import type { RunItem } from "../../clients/typescript/src/index.ts";

/** A row of the list: a run, and how many like it are folded into the row. */
export interface FoldedRow {
  readonly run: RunItem;
  /** Names the group of runs that the row stands for. Absent where the run is no repeat. */
  readonly group?: string;
  /** Earlier runs of the group, hidden or shown below the row. */
  readonly repeats: number;
}

const FOLDED_STATES: readonly RunItem["state"][] = ["SUCCEEDED", "CANCELLED"];

/**
 * Folds the runs that a schedule has repeated on a day with the same uneventful outcome into the newest of them. Failures and
 * questions always have rows of their own.
 * @param runs the newest first
 * @param open the groups whose runs all have rows
 */
export function foldRuns(runs: readonly RunItem[], open: ReadonlySet<string>): FoldedRow[] {
  const sizes = new Map<string, number>();
  for (const run of runs) {
    const group = groupOf(run);
    if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  const shownGroups = new Set<string>();
  return runs.flatMap((run): FoldedRow[] => {
    const group = groupOf(run);
    const repeats = group === undefined ? 0 : (sizes.get(group) ?? 1) - 1;
    if (group === undefined || repeats === 0) return [{ run, repeats: 0 }];
    if (!shownGroups.has(group)) {
      shownGroups.add(group);
      return [{ run, group, repeats }];
    }
    return open.has(group) ? [{ run, repeats: 0 }] : [];
  });
}

function groupOf({ schedule, state, created_at }: RunItem): string | undefined {
  if (schedule === undefined || !FOLDED_STATES.includes(state)) return undefined;
  return `${schedule.schedule_id} ${state} ${new Date(created_at).toDateString()}`;
}
