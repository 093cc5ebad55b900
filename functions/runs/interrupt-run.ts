import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { endTurn } from "#shared/runs/turns/end-turn.ts";
import { InterruptRunResponse } from "#shared/wire/run.ts";

/**
 * POST /agent/runs/{runId}/interrupt: interrupts the current turn of a run. The agent's command and model call stop within
 * 10 seconds. The run then waits for a follow-up for `idle_timeout_minutes`, and becomes `BLOCKED` without one; where
 * waiting is billed, it does so at once. A run that has ended returns 400, a run whose harness takes no interrupts returns
 * 422, and a run that has not begun returns a retryable 409. A run that waits for a follow-up stays as it is.
 */
export const interruptRun = endpoint({
  request: { path: v.object({ runId: PathId }) },
  reply: { 202: InterruptRunResponse },
  errors: ["operation_not_supported"],
  async run({ path, principal, header }, ports: RunPorts) {
    const found = await steerableRun(path.runId, principal, ports);
    const once = toIdempotentRequest(header, principal, `interrupt:${path.runId}`, {});
    const { replayed } = await endTurn(found, { principal, once }, ports);
    return { status: 202, body: { run_id: found.head.run_id }, headers: toReplayHeaders(replayed) };
  },
});
