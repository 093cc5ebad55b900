import { deleteOldRuns } from "#functions/executions/delete-old-runs.ts";
import { eventSources } from "#infra/event-sources.ts";
import type { RetentionPorts } from "#shared/retention/delete-run.ts";
import { withRights } from "./rights.ts";

const HOUR = { source: "aws.events", "detail-type": "Scheduled Event" } as const;

/** One pass of the function that deletes old runs and completes deletions, as the rule that runs each hour invokes it. */
export async function runRetentionPass(ports: RetentionPorts): Promise<void> {
  const { file, rights } = eventSources.deleteOldRuns;
  await withRights(file, rights, () => deleteOldRuns.handle(HOUR, ports));
}
