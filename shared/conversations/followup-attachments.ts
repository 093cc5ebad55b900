import { notFound, RunyardError } from "#shared/errors.ts";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { parseFollowup } from "#shared/records/followup.ts";
import type { StoredAttachment } from "#shared/records/run-body.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Upload } from "#shared/runs/upload-store.ts";
import { findFollowupUploads } from "#shared/runs/uploads.ts";
import { type RunFollowupRequest, UPLOAD_BYTES } from "#shared/wire/runs/followup.ts";
import { toAttachedFiles } from "./attached-files.ts";

/**
 * Copies the uploads of a follow-up to its run, which keeps them. All are checked before any is copied.
 * @throws RunyardError 422 naming one that was not prepared for this run, nor by the sender, or is not uploaded
 */
export async function storeFollowupAttachments(
  requested: NonNullable<RunFollowupRequest["attachments"]>,
  head: RunHead,
  principal: Principal,
  ports: Pick<RunPorts, "table" | "files" | "now">,
): Promise<StoredAttachment[]> {
  if (requested.length === 0) return [];
  const uids = requested.map(({ attachment_id }) => attachment_id);
  const uploads = await findFollowupUploads(uids, principal, head, ports);
  const found = await Promise.all(uploads.map((upload, index) => checkUpload(upload, index, ports.files)));
  return Promise.all(
    found.map(async ({ upload, size_bytes }, index) => {
      const file = fileKeys.followupAttachment(head.run_id, upload.uid);
      await ports.files.copy(upload.file, file);
      const file_name = requested[index]?.file_name ?? upload.file_name;
      return { attachment_id: upload.uid, file_name, mime_type: upload.mime_type, file, size_bytes };
    }),
  );
}

async function checkUpload(upload: Upload | undefined, index: number, files: FileStore) {
  const refuse = (what: string, remedy: string) => {
    const path = `attachments[${index}].attachment_id`;
    return new RunyardError("operation_not_supported", {
      detail: `${path}: ${what}; ${remedy}`,
      errors: [{ path, message: remedy }],
    });
  };
  if (upload === undefined) {
    throw refuse(
      "is not an attachment that was prepared for this run in the last 24 hours, or by you for any run",
      "prepare it for this run, upload it, and send its new id",
    );
  }
  const size = await files.size(upload.file);
  if (size === undefined) throw refuse("has not been uploaded yet", "send the file to its upload_url first");
  if (size !== (upload.size_bytes ?? size)) {
    throw refuse(`has ${size} bytes in place of ${upload.size_bytes}`, "prepare it again, and upload the whole file");
  }
  if (size > UPLOAD_BYTES) throw refuse(`has more than ${UPLOAD_BYTES} bytes`, "send a smaller file");
  return { upload, size_bytes: size };
}

/**
 * Finds the files behind ids: of attachments that the run began with, came with its follow-ups, or were prepared for them.
 * @throws RunyardError 404 if one of them is none of these
 */
export async function listDownloads(
  { head, body }: FoundRun,
  ids: readonly string[],
  principal: Principal,
  ports: Pick<RunPorts, "table" | "files" | "runs" | "now">,
): Promise<{ attachment_id: string; download_url: string }[]> {
  const known = new Map(body.attachments.map((attachment) => [attachment.attachment_id, attachment]));
  const isMissing = (id: string) => !known.has(id);
  if (ids.some(isMissing)) {
    const items = head.followups === 0 ? [] : await ports.runs.followupItems(head.run_id, 0);
    for (const { attachments = [] } of items.map(parseFollowup)) {
      for (const attachment of attachments) known.set(attachment.attachment_id, attachment);
    }
  }
  if (ids.some(isMissing)) {
    for (const upload of await findFollowupUploads(ids.filter(isMissing), principal, head, ports)) {
      const size_bytes = upload?.run === undefined ? undefined : await ports.files.size(upload.file);
      if (upload !== undefined && size_bytes !== undefined)
        known.set(upload.uid, { ...upload, attachment_id: upload.uid, size_bytes });
    }
  }
  const found = ids.map((id) => {
    const attachment = known.get(id);
    if (attachment === undefined) throw notFound("attachment");
    return attachment;
  });
  const files = await toAttachedFiles(found, ports.files);
  return files.map(({ attachment_id, download_url }) => ({ attachment_id, download_url }));
}
