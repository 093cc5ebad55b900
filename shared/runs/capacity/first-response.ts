import { notFound } from "#shared/errors.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { RunAgentResponse } from "#shared/wire/runs/new-run.ts";

const AT_CAPACITY = "at_capacity";

/** What the record of a request says of the run that it has created: whether the run had to wait. */
export const toCreationResult = (runId: string, atCapacity: boolean): string =>
  atCapacity ? `${runId} ${AT_CAPACITY}` : runId;

/** The response to the request that has created a run, for a repeat of it. @throws RunyardError 404 if the run is deleted */
export async function readFirstResponse(result: string, { runs }: Pick<RunPorts, "runs">): Promise<RunAgentResponse> {
  const [runId = "", waited] = result.split(" ");
  if ((await runs.head(runId)) === undefined) throw notFound("run");
  return { run_id: runId, task_id: runId, state: "QUEUED", ...(waited === AT_CAPACITY ? { at_capacity: true } : {}) };
}
