import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { prepareUpload } from "#shared/runs/uploads.ts";
import { CreateAttachmentRequest, CreateAttachmentResponse } from "#shared/wire/attachment.ts";

/** POST /agent/attachments: where to upload a file that the caller's next runs may be given, for 24 hours. */
export const createAttachment = endpoint({
  request: { body: CreateAttachmentRequest },
  reply: { 200: CreateAttachmentResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    const once = toIdempotentRequest(header, principal, "create-attachment", body);
    const { response, replayed } = await prepareUpload(body, principal, once, ports);
    return { status: 200, body: response, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});
