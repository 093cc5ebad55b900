import * as v from "valibot";
import { toFollowupResponse } from "#shared/conversations/followup-receipt.ts";
import { submitFollowup } from "#shared/conversations/followups.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunFollowupRequest, RunFollowupResponse } from "#shared/wire/runs/followup.ts";

/**
 * POST /agent/runs/{runId}/followups: sends a follow-up message to a run. An active run receives the message before its
 * next turn. A run that has ended returns to `QUEUED`, and a new execution continues the same conversation; the response
 * is 409 if another run of the conversation is active. Messages are delivered in order and exactly once. A run accepts
 * at most 1,000 follow-ups. Attachments are files that were uploaded for this run; the agent gets them with the message.
 * `policy` controls the current turn of the agent. The response has the outcome of the
 * follow-up, and the list of follow-ups shows its state.
 */
export const sendFollowup = endpoint({
  request: { path: v.object({ runId: PathId }), body: RunFollowupRequest },
  reply: { 200: RunFollowupResponse },
  errors: ["operation_not_supported"],
  rateLimit: "followup",
  async run({ path, body, principal, header, rateLimitToken }, ports: RunPorts) {
    const run = await steerableRun(path.runId, principal, ports);
    const once = toIdempotentRequest(header, principal, `followup:${path.runId}`, body);
    const { receipt, replayed } = await submitFollowup(run, body, { principal, once, rateLimitToken, header }, ports);
    return { status: 200, body: toFollowupResponse(receipt), headers: toReplayHeaders(replayed) };
  },
});
