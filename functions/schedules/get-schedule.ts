import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { findVisibleSchedule, showScheduleDetail } from "#shared/schedules/read-schedule.ts";
import type { SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { ScheduleItem } from "#shared/wire/schedule.ts";

/**
 * GET /agent/schedules/{scheduleId}: returns a schedule with its next firing and recent runs. `recent_runs` contains up
 * to 10 runs; list the runs by `schedule_id` for all of them.
 */
export const getSchedule = endpoint({
  request: { path: v.object({ scheduleId: PathId }) },
  reply: { 200: ScheduleItem },
  async run({ path, principal }, ports: SchedulePorts) {
    const schedule = await findVisibleSchedule(path.scheduleId, principal, ports);
    return { status: 200, body: await showScheduleDetail(schedule, ports) };
  },
});
