import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { prepareUpload } from "#shared/runs/uploads.ts";
import { CreateAttachmentRequest, CreateAttachmentResponse } from "#shared/wire/attachment.ts";

/** POST /agent/attachments: prepares the upload of a file for later runs. For 24 hours, the caller's new runs may be given the file. */
export const createAttachment = endpoint({
  request: { body: CreateAttachmentRequest },
  reply: { 200: CreateAttachmentResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    const once = toIdempotentRequest(header, principal, "create-attachment", body);
    const { response, replayed } = await prepareUpload(body, principal, once, ports);
    return { status: 200, body: response, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});
