import { isEndedHead } from "#shared/records/run-head.ts";
import {
  type ChangeCall,
  type ChangedRuns,
  type ChangePorts,
  changeMatchingRuns,
} from "#shared/runs/listing/change-matching-runs.ts";
import { deleteOneOfMany } from "./delete-on-request.ts";

/** Deletes the ended runs that match. Like the list, a filter selects archived runs only if it says so; all runs are those too. */
export const deleteMatchingRuns = (call: ChangeCall, ports: ChangePorts): Promise<ChangedRuns> =>
  changeMatchingRuns(
    call,
    {
      operation: "delete-runs",
      toFilter: (filter) => filter ?? { archived: "all" },
      concerns: ({ head }) => isEndedHead(head),
      apply: ({ head }) => deleteOneOfMany(head.run_id, call.principal, ports),
    },
    ports,
  );
