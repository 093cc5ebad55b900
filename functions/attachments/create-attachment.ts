import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { prepareUpload } from "#shared/runs/uploads.ts";
import { CreateAttachmentRequest, CreateAttachmentResponse } from "#shared/wire/attachment.ts";

/**
 * POST /agent/attachments: creates an upload URL for an attachment of up to 100 MiB. Upload the bytes to `upload`
 * within 10 minutes, then pass `attachment_id` when you create a run. The file must have the given size and SHA-256
 * digest. Attachments expire after 24 hours.
 */
export const createAttachment = endpoint({
  request: { body: CreateAttachmentRequest },
  reply: { 200: CreateAttachmentResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    const once = toIdempotentRequest(header, principal, "create-attachment", body);
    const { response, replayed } = await prepareUpload(body, principal, once, ports);
    return { status: 200, body: response, headers: toReplayHeaders(replayed) };
  },
});
