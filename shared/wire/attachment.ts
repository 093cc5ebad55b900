import * as v from "valibot";
import { UploadTarget } from "./harness.ts";
import { Id } from "./primitives.ts";
import { FileName, MimeType } from "./run.ts";
import { FOLLOWUP_FILES, UPLOAD_BYTES } from "./runs/followup.ts";

const Size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(UPLOAD_BYTES));
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must have 64 lowercase hexadecimal digits"));

/** The file to upload. Size and digest must match the uploaded bytes exactly. */
export const CreateAttachmentRequest = v.object({
  /** The file's name, without directories. */
  file_name: FileName,
  /** The file's media type. */
  mime_type: MimeType,
  /** The file's size in bytes. */
  size_bytes: Size,
  /** The SHA-256 digest of the file. */
  sha256: Sha256,
});
export type CreateAttachmentRequest = v.InferOutput<typeof CreateAttachmentRequest>;

/** A new attachment and where to upload its file. */
export const CreateAttachmentResponse = v.object({
  /** The attachment's id. */
  attachment_id: v.string(),
  /** Where to upload the file. */
  upload: UploadTarget,
});
export type CreateAttachmentResponse = v.InferOutput<typeof CreateAttachmentResponse>;

const prepared = {
  /** The file's media type. */
  mime_type: MimeType,
  /** The file's size in bytes. */
  size_bytes: v.exactOptional(Size),
  /** The SHA-256 digest of the file. */
  sha256: v.exactOptional(Sha256),
};

/** The files to upload for a follow-up of a run. One of the two members is required. */
export const PrepareAttachmentsRequest = v.object({
  /** The files to upload, 1 to 25. Required unless the request has `attachments`. */
  files: v.exactOptional(
    v.pipe(
      v.array(
        v.object({
          /** The name that the agent sees, unless the follow-up names another one. */
          filename: FileName,
          ...prepared,
        }),
      ),
      v.maxLength(FOLLOWUP_FILES),
    ),
  ),
  /** An alias of `files`, whose items have `file_name` in place of `filename`. */
  attachments: v.exactOptional(
    v.pipe(
      v.array(
        v.object({
          /** The name that the agent sees, unless the follow-up names another one. */
          file_name: FileName,
          ...prepared,
        }),
      ),
      v.maxLength(FOLLOWUP_FILES),
    ),
  ),
});
export type PrepareAttachmentsRequest = v.InferOutput<typeof PrepareAttachmentsRequest>;

/** The prepared attachments, in the order of the request. */
export const PrepareAttachmentsResponse = v.object({
  /** The prepared attachments, in the order of the request. */
  attachments: v.array(
    v.object({
      /** The attachment's id. */
      attachment_id: v.string(),
      /** The URL for the file: a `PUT` with the file as body and its `mime_type` as `Content-Type`. */
      upload_url: v.string(),
      /** Where to upload the file. With `size_bytes` and `sha256`, storage accepts these bytes only. */
      upload_target: UploadTarget,
      /** The time until which the file can be uploaded. @format date-time */
      expires_at: v.string(),
    }),
  ),
});
export type PrepareAttachmentsResponse = v.InferOutput<typeof PrepareAttachmentsResponse>;

/** The attachments to download. */
export const DownloadAttachmentsRequest = v.object({
  /** The ids of the attachments, at most 100. */
  attachment_ids: v.pipe(v.array(Id), v.maxLength(100)),
});

/** Where to download the attachments, in the order of the request. */
export const DownloadAttachmentsResponse = v.object({
  /** The attachments with their URLs, in the order of the request. */
  attachments: v.array(
    v.object({
      /** The attachment's id. */
      attachment_id: v.string(),
      /** A time-limited URL of the file. Do not send credentials to it. @format uri */
      download_url: v.string(),
    }),
  ),
});

/** The snapshot files of a run's latest ended execution. */
export const HandoffAttachments = v.object({
  /** The files of the snapshot. */
  attachments: v.array(
    v.object({
      /** The attachment's id. */
      attachment_id: v.string(),
      /** The file's name. */
      filename: v.string(),
      /** A time-limited URL of the file. Do not send credentials to it. @format uri */
      download_url: v.string(),
      /** The file's media type. */
      mime_type: v.exactOptional(v.string()),
    }),
  ),
});
export type HandoffAttachments = v.InferOutput<typeof HandoffAttachments>;
