import * as v from "valibot";
import { UploadTarget } from "./harness.ts";
import { FileName, MimeType } from "./run.ts";

/** Bytes that one attachment may have that is uploaded first. */
const UPLOAD_BYTES = 100 * 1024 * 1024;

/** The body of POST /agent/attachments: what will be uploaded, to the byte. */
export const CreateAttachmentRequest = v.object({
  file_name: FileName,
  mime_type: MimeType,
  size_bytes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(UPLOAD_BYTES)),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits")),
});
export type CreateAttachmentRequest = v.InferOutput<typeof CreateAttachmentRequest>;

export const CreateAttachmentResponse = v.object({ attachment_id: v.string(), upload: UploadTarget });
export type CreateAttachmentResponse = v.InferOutput<typeof CreateAttachmentResponse>;

/** Snapshot files of the latest execution that has ended. */
export const HandoffAttachments = v.object({
  attachments: v.array(
    v.object({
      attachment_id: v.string(),
      filename: v.string(),
      download_url: v.string(),
      mime_type: v.exactOptional(v.string()),
    }),
  ),
});
export type HandoffAttachments = v.InferOutput<typeof HandoffAttachments>;
