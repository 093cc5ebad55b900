import { pauseSchedule } from "./auto-pause.ts";
import { readFailures } from "./failures.ts";
import { putPaused } from "./schedule-event.ts";
import type { SchedulePorts } from "./schedule-ports.ts";
import { retryOnChange } from "./schedule-store.ts";

/** Records with a schedule that one of its runs has ended: since when they fail. It pauses where too many have failed in a row. */
export async function noteRunOfSchedule(
  id: string,
  { schedules, table, now }: Pick<SchedulePorts, "schedules" | "table" | "now">,
): Promise<void> {
  await retryOnChange(async () => {
    const before = await schedules.get(id);
    if (before === undefined || before.timing.state === "deleted") return;
    const { failing_since, pauseReason, latest = "" } = await readFailures(before.recent_runs, before, table);
    const { failing_since: _, ...rest } = before;
    const after = { ...rest, ...(failing_since === undefined ? {} : { failing_since }) };
    if (pauseReason !== undefined && before.timing.state === "active") {
      const teamEvent = putPaused(before, { at: now(), reason: pauseReason, run_id: latest });
      return pauseSchedule(before, after, pauseReason, { schedules, now }, teamEvent);
    }
    if (failing_since !== before.failing_since) await schedules.change(before, after);
  });
}
