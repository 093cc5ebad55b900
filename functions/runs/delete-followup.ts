import * as v from "valibot";
import { deletePendingFollowup } from "#shared/conversations/followup-changes.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/**
 * DELETE /agent/runs/{runId}/followups/{followupId}: removes a pending follow-up, which the agent then never receives. It
 * stays readable as `removed`. Returns 409 once the agent has taken the follow-up, and after it was removed.
 */
export const deleteFollowup = endpoint({
  request: { path: v.object({ runId: PathId, followupId: v.string() }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal, header }, ports: RunPorts) {
    const { head } = await steerableRun(path.runId, principal, ports);
    const once = toIdempotentRequest(header, principal, `delete-followup:${path.runId}`, path.followupId);
    await deletePendingFollowup(head, path.followupId, once, ports);
    return { status: 204 };
  },
});
