import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { setEnabled } from "#shared/schedules/change-schedule.ts";
import { showSchedule } from "#shared/schedules/read-schedule.ts";
import type { SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { ScheduleItem } from "#shared/wire/schedule.ts";

/**
 * POST /agent/schedules/{scheduleId}/pause: pauses a schedule until it is resumed. Pausing a paused schedule changes
 * nothing. Active runs continue.
 */
export const pauseSchedule = endpoint({
  request: { path: v.object({ scheduleId: PathId }) },
  reply: { 200: ScheduleItem },
  async run({ path, principal, header }, ports: SchedulePorts) {
    const once = toIdempotentRequest(header, principal, `pause-schedule:${path.scheduleId}`, {});
    const { schedule, replayed } = await setEnabled(path.scheduleId, false, { principal, once }, ports);
    const body = await showSchedule(schedule, ports);
    return { status: 200, body, headers: toReplayHeaders(replayed) };
  },
});
