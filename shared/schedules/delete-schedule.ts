import { logLine } from "#shared/log/log.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { findVisibleSchedule } from "./read-schedule.ts";
import type { Schedule } from "./schedule.ts";
import type { SchedulePorts } from "./schedule-ports.ts";
import { retryOnChange } from "./schedule-store.ts";

/** Deletes a schedule; its runs stay. It is not visible any more from the first write on, even if removing its timer fails. */
export async function removeSchedule(id: string, principal: Principal, ports: SchedulePorts): Promise<void> {
  const { schedules, scheduler, now } = ports;
  const deleted = await retryOnChange(async () => {
    const before = await findVisibleSchedule(id, principal, ports);
    const after: Schedule = { ...before, timing: { state: "deleted" }, plan: before.plan + 1, pending_since: now() };
    await schedules.change(before, after);
    return after;
  });
  try {
    await scheduler.remove(id);
    await schedules.noteSynced(deleted);
  } catch (error) {
    // The reconciler removes the timer within minutes; until then it has no effect.
    logLine("error", "a timer was not removed", { schedule_id: id, error });
  }
}
