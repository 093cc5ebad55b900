import * as v from "valibot";
import { editFollowup } from "#shared/conversations/followup-changes.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { FollowupItem, UpdateFollowupRequest } from "#shared/wire/runs/followup.ts";

/**
 * PUT /agent/runs/{runId}/followups/{followupId}: replaces the message of a pending follow-up. Returns 409 once the agent
 * has taken the follow-up, and after it was removed.
 */
export const updateFollowup = endpoint({
  request: { path: v.object({ runId: PathId, followupId: v.string() }), body: UpdateFollowupRequest },
  reply: { 200: FollowupItem },
  async run({ path, body, principal }, ports: RunPorts) {
    const { head } = await steerableRun(path.runId, principal, ports);
    return { status: 200, body: await editFollowup(head, path.followupId, body.message, ports) };
  },
});
