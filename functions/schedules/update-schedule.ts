import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { replaceSchedule } from "#shared/schedules/change-schedule.ts";
import { showSchedule } from "#shared/schedules/read-schedule.ts";
import type { SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { ScheduleItem, UpdateScheduleRequest } from "#shared/wire/schedule.ts";

/**
 * PUT /agent/schedules/{scheduleId}: replaces a schedule. `name`, `cron_schedule`, `enabled` and, without a skill,
 * `prompt` are required. Optional members that are absent keep their values. Runs that the schedule has created are not
 * changed.
 */
export const updateSchedule = endpoint({
  request: { path: v.object({ scheduleId: PathId }), body: UpdateScheduleRequest },
  reply: { 200: ScheduleItem },
  errors: ["feature_not_available", "operation_not_supported"],
  async run(call, ports: SchedulePorts) {
    const schedule = await replaceSchedule(call.path.scheduleId, call, ports);
    return { status: 200, body: await showSchedule(schedule, ports) };
  },
});
