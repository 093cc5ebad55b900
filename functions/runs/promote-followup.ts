import * as v from "valibot";
import { promotePendingFollowup } from "#shared/conversations/followup-changes.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { FollowupItem } from "#shared/wire/runs/followup.ts";

/**
 * POST /agent/runs/{runId}/followups/{followupId}/promote: promotes a pending follow-up to the agent's next message. Interrupts
 * the current turn for it. Returns 409 once the agent has taken the follow-up, and after it was removed.
 */
export const promoteFollowup = endpoint({
  request: { path: v.object({ runId: PathId, followupId: v.string() }) },
  reply: { 200: FollowupItem },
  async run({ path, principal, header }, ports: RunPorts) {
    const { head } = await steerableRun(path.runId, principal, ports);
    const once = toIdempotentRequest(header, principal, `promote-followup:${path.runId}`, path.followupId);
    const { item, replayed } = await promotePendingFollowup(head, path.followupId, once, ports);
    return { status: 200, body: item, headers: toReplayHeaders(replayed) };
  },
});
