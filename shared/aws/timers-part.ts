import type { Scheduler } from "#shared/timers/scheduler.ts";
import { eventBridgeScheduler, type TimerSettings } from "./eventbridge-scheduler.ts";
import { schedulerClient } from "./scheduler-client.ts";

/** EventBridge Scheduler, with the client. The bundler makes it a part that is loaded by its first use; see infra/bundle-parts.ts. */
export const openTimers = (settings: () => TimerSettings): Scheduler =>
  eventBridgeScheduler(schedulerClient(), settings);
