import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { cancelOneRun } from "#shared/runs/cancel-run.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { Flag } from "#shared/wire/primitives.ts";

/**
 * POST /agent/runs/{runId}/cancel: cancels a run and stops its processes. Returns the run's id as a JSON string. A run
 * that has ended returns 400. A run that is executed by a self-hosted worker or by its caller returns 422, and a
 * `PENDING` or `CLAIMED` run returns a retryable 409; `force=true` cancels these as well. The timeline event
 * `run_stopped` shows when the sandbox has stopped.
 */
export const cancelRun = endpoint({
  request: {
    path: v.object({ runId: PathId }),
    query: {
      /** Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well. @default false */
      force: one(Flag),
    },
  },
  reply: { 200: v.string() },
  errors: ["operation_not_supported"],
  async run({ path, query, principal, header }, ports: RunPorts) {
    const { head, body } = await steerableRun(path.runId, principal, ports);
    const force = query.force ?? false;
    const once = toIdempotentRequest(header, principal, `cancel:${path.runId}`, { force });
    const { replayed } = await cancelOneRun({ head, body, principal, force, once }, ports);
    return { status: 200, body: path.runId, headers: toReplayHeaders(replayed) };
  },
});
