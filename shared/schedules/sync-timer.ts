import { invalid, RunyardError } from "#shared/errors.ts";
import { type Timer, TimerRefused, TimersExhausted } from "#shared/timers/scheduler.ts";
import { canonicalTimeZone } from "./cron.ts";
import type { Schedule } from "./schedule.ts";
import type { SchedulePorts } from "./schedule-ports.ts";
import { schedulerCron } from "./scheduler-cron.ts";

/** Times that a schedule may change while its timer is set, before the reconciler has to continue. */
const MAX_ATTEMPTS = 5;

type SyncPorts = Pick<SchedulePorts, "schedules" | "scheduler">;

/**
 * Makes the timer match the schedule. The table is written first and records that the timer is out of date, so that the reconciler
 * repeats this after a crash. Where the schedule changes in between, the timer is set again.
 */
export async function syncTimer(first: Schedule, { schedules, scheduler }: SyncPorts): Promise<void> {
  let schedule = first;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const id = schedule.schedule_id;
    if (schedule.timing.state === "active") await scheduler.put(toTimer(schedule));
    else await scheduler.remove(id);
    if (await schedules.noteSynced(schedule)) return;
    const changed = await schedules.get(id);
    if (changed === undefined) return scheduler.remove(id);
    schedule = changed;
  }
}

/** The error for the caller whose schedule can have no timer; undefined for another error, after which the reconciler sets the timer. */
export function findTimerRefusal(error: unknown): RunyardError | undefined {
  if (error instanceof TimerRefused) return invalid("cron_schedule", "is not supported by the scheduler");
  if (!(error instanceof TimersExhausted)) return undefined;
  return new RunyardError("resource_unavailable", {
    detail:
      "EventBridge Scheduler has no room for another schedule in this account and region: delete or pause schedules, or have the operator ask AWS to raise the quota of schedules (Service Quotas)",
    retryable: false,
    retryAfterSeconds: 60,
    cause: error,
  });
}

function toTimer({ schedule_id, cron_schedule, time_zone }: Schedule): Timer {
  return {
    id: schedule_id,
    expression: schedulerCron(cron_schedule),
    timeZone: canonicalTimeZone(time_zone) ?? time_zone,
  };
}
