import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { createSchedule as create } from "#shared/schedules/create-schedule.ts";
import type { SchedulePorts } from "#shared/schedules/ports.ts";
import { toItem } from "#shared/schedules/read-schedule.ts";
import { CreateScheduleRequest, ScheduleItem } from "#shared/wire/schedule.ts";

/** POST /agent/schedules: a prompt that is run whenever its cron says. */
export const createSchedule = endpoint({
  request: { body: CreateScheduleRequest },
  reply: { 201: ScheduleItem },
  errors: ["feature_not_available", "operation_not_supported"],
  async run({ body, principal, header }, ports: SchedulePorts) {
    const once = toIdempotentRequest(header, principal, "create-schedule", body);
    const { schedule, replayed } = await create(body, principal, once, ports);
    const item = await toItem(schedule, ports);
    return { status: 201, body: item, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});
