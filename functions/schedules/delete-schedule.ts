import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { removeSchedule } from "#shared/schedules/delete-schedule.ts";
import type { SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { DeleteScheduleResponse } from "#shared/wire/schedule.ts";

/**
 * DELETE /agent/schedules/{scheduleId}: deletes a schedule. Runs that the schedule has created remain and are still
 * found by its `schedule_id`. Deleting the schedule again returns 404.
 */
export const deleteSchedule = endpoint({
  request: { path: v.object({ scheduleId: PathId }) },
  reply: { 200: DeleteScheduleResponse },
  async run({ path, principal }, ports: SchedulePorts) {
    await removeSchedule(path.scheduleId, principal, ports);
    return { status: 200, body: { success: true } };
  },
});
