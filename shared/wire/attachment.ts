import * as v from "valibot";
import { UploadTarget } from "./harness.ts";
import { FileName, MimeType } from "./run.ts";

/** The size limit of an uploaded attachment. */
const UPLOAD_BYTES = 100 * 1024 * 1024;

/** The file to upload. Size and digest must match the uploaded bytes exactly. */
export const CreateAttachmentRequest = v.object({
  file_name: FileName,
  mime_type: MimeType,
  size_bytes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(UPLOAD_BYTES)),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must have 64 lowercase hexadecimal digits")),
});
export type CreateAttachmentRequest = v.InferOutput<typeof CreateAttachmentRequest>;

/** A new attachment and where to upload its file. */
export const CreateAttachmentResponse = v.object({ attachment_id: v.string(), upload: UploadTarget });
export type CreateAttachmentResponse = v.InferOutput<typeof CreateAttachmentResponse>;

/** The snapshot files of a run's latest ended execution. */
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
