import { logLine } from "#shared/log/log.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { SchedulePorts } from "./ports.ts";
import { visibleSchedule } from "./read-schedule.ts";
import type { Schedule } from "./schedule.ts";
import { attempting } from "./schedule-store.ts";

/** Deletes a schedule; its runs stay. From the first write on it is gone for everybody, whatever becomes of its timer. */
export async function deleteSchedule(id: string, principal: Principal, ports: SchedulePorts): Promise<void> {
  const { schedules, scheduler, now } = ports;
  const deleted = await attempting(async () => {
    const before = await visibleSchedule(id, principal, ports);
    const after: Schedule = { ...before, timing: { state: "deleted" }, plan: before.plan + 1, pending_since: now() };
    await schedules.change(before, after);
    return after;
  });
  try {
    await scheduler.remove(id);
    await schedules.agreed(deleted);
  } catch (error) {
    // The reconciler takes the timer away within minutes; until then it goes off for nothing.
    logLine("error", "a timer was not taken away", { schedule_id: id, error });
  }
}
