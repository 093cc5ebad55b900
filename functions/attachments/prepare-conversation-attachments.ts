import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { steerableLatestRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { prepareFollowupUploads } from "#shared/runs/uploads.ts";
import { PrepareAttachmentsRequest, PrepareAttachmentsResponse } from "#shared/wire/attachment.ts";

/**
 * POST /agent/conversations/{conversationId}/attachments/prepare: creates upload URLs for the files of a conversation's
 * follow-up. Follows the rules of attachments for its latest run.
 */
export const prepareConversationAttachments = endpoint({
  request: { path: v.object({ conversationId: PathId }), body: PrepareAttachmentsRequest },
  reply: { 200: PrepareAttachmentsResponse },
  async run({ path, body, principal, header }, ports: RunPorts) {
    const { head } = await steerableLatestRun(path.conversationId, principal, ports);
    const once = toIdempotentRequest(
      header,
      principal,
      `prepare-conversation-attachments:${path.conversationId}`,
      body,
    );
    const { response, replayed } = await prepareFollowupUploads({ head, principal, once }, body, ports);
    return { status: 200, body: response, headers: toReplayHeaders(replayed) };
  },
});
