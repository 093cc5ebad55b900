import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import type { FiringPorts } from "#shared/schedules/ports.ts";
import { reconcileSchedules as reconcile } from "#shared/schedules/reconcile.ts";
import { liveFiring } from "#shared/wiring/schedule-firing.ts";

/** What the rule of each minute sends; an event of any other kind is somebody's mistake. */
const Minute = v.object({ source: v.literal("aws.events"), "detail-type": v.literal("Scheduled Event") });
type Minute = v.InferOutput<typeof Minute>;

/** Each minute: makes up for firings that no timer told of, and sets timers that are not what their schedule says. */
export const reconcileSchedules = {
  async handle(event: Minute, ports: FiringPorts): Promise<void> {
    v.parse(Minute, event);
    const result = await reconcile(ports);
    logLine(result.failed > 0 ? "error" : "info", "schedules reconciled", { ...result });
  },
};

let ports: FiringPorts | undefined;

export async function handler(event: Minute): Promise<void> {
  ports ??= liveFiring();
  return reconcileSchedules.handle(event, ports);
}
