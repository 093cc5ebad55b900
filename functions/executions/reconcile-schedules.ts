import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { ScheduledEvent } from "#shared/queue/scheduled-event.ts";
import { reconcileOverdue } from "#shared/schedules/reconcile.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";

/** Each minute: fires what no timer has fired, and repairs timers that differ from their schedule. */
export const reconcileSchedules = invocation(async (event: ScheduledEvent, ports: FiringPorts): Promise<void> => {
  v.parse(ScheduledEvent, event);
  const result = await reconcileOverdue(ports);
  logLine(result.failed > 0 ? "error" : "info", "schedules reconciled", { ...result });
});
