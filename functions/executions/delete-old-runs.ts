import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { ScheduledEvent } from "#shared/queue/scheduled-event.ts";
import type { RetentionPorts } from "#shared/retention/delete-run.ts";
import { enforceRetention } from "#shared/retention/enforce-retention.ts";

/**
 * Each hour: deletes the runs that are older than their team keeps them.
 * @throws if some could not be deleted, after all others were
 */
export const deleteOldRuns = invocation(async (event: ScheduledEvent, ports: RetentionPorts): Promise<void> => {
  v.parse(ScheduledEvent, event);
  const { deleted, failed } = await enforceRetention(ports);
  logLine(failed > 0 ? "error" : "info", "old runs deleted", { deleted, failed });
  if (failed > 0) throw new Error(`${failed} runs could not be deleted`);
});
