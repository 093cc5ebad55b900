import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { reconcileOverdue } from "#shared/schedules/reconcile.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";

/** The event of the rule that runs every minute; any other event is an error. */
const Minute = v.object({ source: v.literal("aws.events"), "detail-type": v.literal("Scheduled Event") });
type Minute = v.InferOutput<typeof Minute>;

/** Each minute: fires what no timer has fired, and repairs timers that differ from their schedule. */
export const reconcileSchedules = invocation(async (event: Minute, ports: FiringPorts): Promise<void> => {
  v.parse(Minute, event);
  const result = await reconcileOverdue(ports);
  logLine(result.failed > 0 ? "error" : "info", "schedules reconciled", { ...result });
});
