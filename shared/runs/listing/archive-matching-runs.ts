import { applyArchived } from "#shared/runs/archiving/archive-run.ts";
import { type ChangeCall, type ChangedRuns, type ChangePorts, changeMatchingRuns } from "./change-matching-runs.ts";

/** Archives the runs that match, or reverses that. Without the filter `archived`, these are the ones whose state it changes. */
export const setArchivedOfMatching = (call: ChangeCall, archived: boolean, ports: ChangePorts): Promise<ChangedRuns> =>
  changeMatchingRuns(
    call,
    {
      operation: archived ? "archive-runs" : "unarchive-runs",
      toFilter: (filter) => ({ archived: archived ? "false" : "true", ...filter }),
      concerns: () => true,
      apply: ({ head }) => applyArchived(head, archived, ports),
    },
    ports,
  );
