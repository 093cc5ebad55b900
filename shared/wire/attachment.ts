import * as v from "valibot";
import { UploadTarget } from "./harness.ts";
import { Id } from "./primitives.ts";
import { FileName, FOLLOWUP_FILES, MimeType, UPLOAD_BYTES } from "./run.ts";

const Size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(UPLOAD_BYTES));
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must have 64 lowercase hexadecimal digits"));

/** The file to upload. Size and digest must match the uploaded bytes exactly. */
export const CreateAttachmentRequest = v.object({
  file_name: FileName,
  mime_type: MimeType,
  size_bytes: Size,
  sha256: Sha256,
});
export type CreateAttachmentRequest = v.InferOutput<typeof CreateAttachmentRequest>;

/** A new attachment and where to upload its file. */
export const CreateAttachmentResponse = v.object({ attachment_id: v.string(), upload: UploadTarget });
export type CreateAttachmentResponse = v.InferOutput<typeof CreateAttachmentResponse>;

const prepared = { mime_type: MimeType, size_bytes: v.exactOptional(Size), sha256: v.exactOptional(Sha256) };

/** The files to upload for a follow-up of a run. One of the two members is required. */
export const PrepareAttachmentsRequest = v.object({
  files: v.exactOptional(v.pipe(v.array(v.object({ filename: FileName, ...prepared })), v.maxLength(FOLLOWUP_FILES))),
  attachments: v.exactOptional(
    v.pipe(v.array(v.object({ file_name: FileName, ...prepared })), v.maxLength(FOLLOWUP_FILES)),
  ),
});
export type PrepareAttachmentsRequest = v.InferOutput<typeof PrepareAttachmentsRequest>;

/** The prepared attachments, in the order of the request. */
export const PrepareAttachmentsResponse = v.object({
  attachments: v.array(
    v.object({
      attachment_id: v.string(),
      upload_url: v.string(),
      upload_target: UploadTarget,
      expires_at: v.string(),
    }),
  ),
});
export type PrepareAttachmentsResponse = v.InferOutput<typeof PrepareAttachmentsResponse>;

/** The attachments to download. */
export const DownloadAttachmentsRequest = v.object({
  attachment_ids: v.pipe(v.array(Id), v.maxLength(100)),
});

/** Where to download the attachments, in the order of the request. */
export const DownloadAttachmentsResponse = v.object({
  attachments: v.array(v.object({ attachment_id: v.string(), download_url: v.string() })),
});

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
