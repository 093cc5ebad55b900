import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { addSchedule } from "#shared/schedules/create-schedule.ts";
import { showSchedule } from "#shared/schedules/read-schedule.ts";
import type { SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { CreateScheduleRequest, ScheduleItem } from "#shared/wire/schedule.ts";

/**
 * POST /agent/schedules: creates a schedule that runs a prompt by cron. The body must have a `prompt`, unless
 * `agent_config` names a skill. The schedule is enabled and reads its cron expression in UTC unless the body says
 * otherwise. A team or a person can have at most 500 schedules.
 */
export const createSchedule = endpoint({
  request: { body: CreateScheduleRequest },
  reply: { 201: ScheduleItem },
  errors: ["feature_not_available", "operation_not_supported"],
  async run(call, ports: SchedulePorts) {
    const once = toIdempotentRequest(call.header, call.principal, "create-schedule", call.body);
    const { schedule, replayed } = await addSchedule(call, once, ports);
    const item = await showSchedule(schedule, ports);
    return { status: 201, body: item, headers: toReplayHeaders(replayed) };
  },
});
