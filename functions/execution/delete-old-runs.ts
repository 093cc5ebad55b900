import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { invocation } from "#shared/queue/invocation.ts";
import type { RetentionPorts } from "#shared/retention/delete-run.ts";
import { enforceRetention } from "#shared/retention/enforce-retention.ts";

/** The event of the rule that runs every hour; any other event is an error. */
const Hour = v.object({ source: v.literal("aws.events"), "detail-type": v.literal("Scheduled Event") });
type Hour = v.InferOutput<typeof Hour>;

/**
 * Each hour: deletes the runs that are older than their team keeps them.
 * @throws if some could not be deleted, after all others were
 */
export const deleteOldRuns = invocation(async (event: Hour, ports: RetentionPorts): Promise<void> => {
  v.parse(Hour, event);
  const { deleted, failed } = await enforceRetention(ports);
  logLine(failed > 0 ? "error" : "info", "old runs deleted", { deleted, failed });
  if (failed > 0) throw new Error(`${failed} runs could not be deleted`);
});
