import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { cancelOneRun } from "#shared/runs/cancel-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import { Flag } from "#shared/wire/primitives.ts";

/** POST /agent/runs/{runId}/cancel: cancels a run. Its agent and all its processes are stopped. */
export const cancelRun = endpoint({
  request: { path: v.object({ runId: PathId }), query: { force: one(Flag) } },
  reply: { 200: v.string() },
  errors: ["operation_not_supported"],
  async run({ path, query, principal, header }, ports: RunPorts) {
    const { head, body } = await steerableRun(path.runId, principal, ports);
    const force = query.force ?? false;
    const once = toIdempotentRequest(header, principal, `cancel:${path.runId}`, { force });
    const { replayed } = await cancelOneRun({ head, body, principal, force, once }, ports);
    return { status: 200, body: path.runId, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});
