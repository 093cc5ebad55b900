import * as v from "valibot";
import { toFollowupResponse } from "#shared/conversations/followup-receipt.ts";
import { submitFollowup } from "#shared/conversations/followups.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { steerableLatestRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunFollowupRequest, RunFollowupResponse } from "#shared/wire/runs/followup.ts";

/**
 * POST /agent/conversations/{conversationId}/followups: sends a follow-up message to the latest run of a conversation.
 * Follows the rules of a follow-up to that run. The response names the run.
 */
export const sendConversationFollowup = endpoint({
  request: { path: v.object({ conversationId: PathId }), body: RunFollowupRequest },
  reply: { 200: RunFollowupResponse },
  errors: ["operation_not_supported"],
  rateLimit: "followup",
  async run({ path, body, principal, header, rateLimitToken }, ports: RunPorts) {
    const run = await steerableLatestRun(path.conversationId, principal, ports);
    const once = toIdempotentRequest(header, principal, `conversation-followup:${path.conversationId}`, body);
    const { receipt, replayed } = await submitFollowup(run, body, { principal, once, rateLimitToken, header }, ports);
    return { status: 200, body: toFollowupResponse(receipt), headers: toReplayHeaders(replayed) };
  },
});
