import { invalid } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { randomId, sha256 } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { StoredAttachment } from "#shared/records/run-body.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import type { RunPorts } from "./run-ports.ts";
import { findUpload } from "./uploads.ts";

/** Bytes that the attachments of one request may have together, decoded. */
const ATTACHMENT_BYTES = Math.floor(2.9 * 1024 * 1024);

interface InlineAttachment {
  readonly fileName: string;
  readonly mimeType: string;
  readonly content: Buffer;
}

/** An attachment that was uploaded before; `field` is its member of the request. */
interface UploadedAttachment {
  readonly uid: string;
  readonly field: string;
}

export type ReceivedAttachment = InlineAttachment | UploadedAttachment;

/** Decodes the attachments of a request; `images` is the older name of `attachments`. */
export function readAttachments(request: RunAgentRequest): readonly ReceivedAttachment[] {
  const images = (request.images ?? []).map(({ data, mime_type }, index) => ({
    fileName: `image-${index + 1}.${mime_type.split("/")[1]?.replace(/\W.*/s, "") ?? "bin"}`,
    mimeType: mime_type,
    content: Buffer.from(data, "base64"),
  }));
  const attachments = (request.attachments ?? []).map((attachment, index) =>
    "attachment_id" in attachment
      ? { uid: attachment.attachment_id, field: `attachments[${index}].attachment_id` }
      : {
          fileName: attachment.file_name,
          mimeType: attachment.mime_type,
          content: Buffer.from(attachment.data, "base64"),
        },
  );
  const all = [...attachments, ...images];
  const bytes = all.reduce((sum, attachment) => sum + ("content" in attachment ? attachment.content.length : 0), 0);
  if (bytes > ATTACHMENT_BYTES) {
    throw invalid("attachments", `have ${bytes} bytes together, the limit is ${ATTACHMENT_BYTES}`);
  }
  return all;
}

/**
 * Stores the attachments of a run. Those that were uploaded before are all checked before any other is stored. `request` names
 * the logical request, so that a repeat of it stores the same files.
 */
export async function storeAttachments(
  run: { readonly request: string; readonly owner: Owner; readonly principal: Principal },
  attachments: readonly ReceivedAttachment[],
  ports: RunPorts,
): Promise<StoredAttachment[]> {
  const found = await Promise.all(
    attachments.map((attachment) =>
      "uid" in attachment ? readUploaded(attachment, run.principal, run.owner, ports) : attachment,
    ),
  );
  return Promise.all(
    found.map(async (attachment) => {
      if (!("content" in attachment)) {
        const file = fileKeys.attachment(run.request, attachment.attachment_id);
        await ports.files.copy(attachment.file, file);
        return { ...attachment, file };
      }
      const { fileName, mimeType, content } = attachment;
      const id = randomId();
      const file = fileKeys.attachment(run.request, sha256(content));
      await ports.files.put(file, content, mimeType);
      return { attachment_id: id, file_name: fileName, mime_type: mimeType, file, size_bytes: content.length };
    }),
  );
}

async function readUploaded(
  { uid, field }: UploadedAttachment,
  principal: Principal,
  owner: Owner,
  ports: RunPorts,
): Promise<StoredAttachment> {
  const upload = await findUpload(uid, principal, owner, ports);
  if (upload === undefined)
    throw invalid(field, "is not one of your attachments for this team, or is older than 24 hours");
  const { file, file_name, mime_type, size_bytes } = upload;
  if (size_bytes === undefined || (await ports.files.size(file)) !== size_bytes)
    throw invalid(field, "has not been uploaded yet");
  return { attachment_id: uid, file_name, mime_type, file, size_bytes };
}
