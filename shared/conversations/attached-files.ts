import type { FileStore } from "#shared/files/file-store.ts";
import type { StoredAttachment } from "#shared/records/run-body.ts";
import type { AttachedFile } from "#shared/wire/harness.ts";

/** Formats attachments for the harness, with URLs to download them. */
export const toAttachedFiles = (attachments: readonly StoredAttachment[], files: FileStore): Promise<AttachedFile[]> =>
  Promise.all(
    attachments.map(async ({ attachment_id, file_name, mime_type, file }) => {
      const { url } = await files.downloadUrl(file, { filename: file_name, contentType: mime_type });
      return { attachment_id, filename: file_name, download_url: url, mime_type };
    }),
  );
