import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { startScheduledRun } from "#shared/schedules/run-now.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";
import { RunAgentResponse } from "#shared/wire/runs/new-run.ts";

/**
 * POST /agent/schedules/{scheduleId}/run: creates a run from a schedule immediately. The run has the schedule's prompt
 * and configuration, in addition to planned firings, and adds no tick. Works for paused schedules too.
 */
export const runSchedule = endpoint({
  request: { path: v.object({ scheduleId: PathId }) },
  reply: { 200: RunAgentResponse },
  errors: ["feature_not_available", "operation_not_supported", "budget_exceeded"],
  rateLimit: "create",
  async run({ path, principal, header, rateLimitToken }, ports: FiringPorts) {
    const once = toIdempotentRequest(header, principal, `run-schedule:${path.scheduleId}`, {});
    const { response, replayed } = await startScheduledRun(path.scheduleId, principal, { once, rateLimitToken }, ports);
    return { status: 200, body: response, headers: toReplayHeaders(replayed) };
  },
});
