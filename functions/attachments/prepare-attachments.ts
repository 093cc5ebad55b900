import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { steerableRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { prepareFollowupUploads } from "#shared/runs/uploads.ts";
import { PrepareAttachmentsRequest, PrepareAttachmentsResponse } from "#shared/wire/attachment.ts";

/**
 * POST /agent/runs/{runId}/attachments/prepare: creates upload URLs for the files of a follow-up. Each has up to 100 MiB.
 * Upload each file to its `upload_url` within 10 minutes by a PUT with its `Content-Type`, then name its
 * `attachment_id` in a follow-up of this run. Attachments expire after 24 hours.
 */
export const prepareAttachments = endpoint({
  request: { path: v.object({ runId: PathId }), body: PrepareAttachmentsRequest },
  reply: { 200: PrepareAttachmentsResponse },
  async run({ path, body, principal, header }, ports: RunPorts) {
    const { head } = await steerableRun(path.runId, principal, ports);
    const once = toIdempotentRequest(header, principal, `prepare-attachments:${path.runId}`, body);
    const { response, replayed } = await prepareFollowupUploads({ head, principal, once }, body, ports);
    return { status: 200, body: response, headers: toReplayHeaders(replayed) };
  },
});
