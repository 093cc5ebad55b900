import type { Timer } from "#shared/timers/scheduler.ts";
import { canonicalTimeZone } from "./cron.ts";
import type { SchedulePorts } from "./ports.ts";
import type { Schedule } from "./schedule.ts";
import { schedulerCron } from "./scheduler-cron.ts";

/** Changes that may come between the timer and the note that it is set, before somebody else has to go on. */
const ATTEMPTS = 5;

type Agreeing = Pick<SchedulePorts, "schedules" | "scheduler">;

/**
 * Makes the timer what the schedule says. The table is written first and tells that this is still to be done; whoever
 * dies on the way leaves that word behind, and the reconciler comes here again. A change that comes in between has the
 * last word: the note fails, and the timer is set once more.
 */
export async function syncTimer(first: Schedule, { schedules, scheduler }: Agreeing): Promise<void> {
  let schedule = first;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const id = schedule.schedule_id;
    if (schedule.timing.state === "active") await scheduler.put(timerOf(schedule));
    else await scheduler.remove(id);
    if (await schedules.agreed(schedule)) return;
    const changed = await schedules.get(id);
    if (changed === undefined) return scheduler.remove(id);
    schedule = changed;
  }
}

function timerOf({ schedule_id, cron_schedule, time_zone }: Schedule): Timer {
  return {
    id: schedule_id,
    expression: schedulerCron(cron_schedule),
    timeZone: canonicalTimeZone(time_zone) ?? time_zone,
  };
}
