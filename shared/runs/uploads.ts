import { RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { isUuid, randomId } from "#shared/ids.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import { parseOwner } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { CreateAttachmentRequest, CreateAttachmentResponse } from "#shared/wire/attachment.ts";
import type { RunPorts } from "./run-ports.ts";
import { UPLOAD_MS, type Upload, uploadStore } from "./upload-store.ts";

interface PreparedUpload {
  readonly response: CreateAttachmentResponse;
  readonly replayed: boolean;
}

/** Prepares the upload of a file and returns where to send it; a repeated request gets the same upload. */
export async function prepareUpload(
  request: CreateAttachmentRequest,
  principal: Principal,
  once: IdempotentRequest,
  ports: RunPorts,
): Promise<PreparedUpload> {
  return runIdempotent<PreparedUpload>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      const upload = toUpload(request, principal, ports.now());
      await storeUpload(upload, record(upload.uid), principal, ports);
      return { response: await toResponse(upload, ports), replayed: false };
    },
    async (uid) => {
      const upload = await uploadStore(ports.table).read(uid);
      if (upload === undefined) throw new RunyardError("internal_error");
      return { response: await toResponse(upload, ports), replayed: true };
    },
  );
}

async function storeUpload(upload: Upload, record: Put, principal: Principal, { table }: RunPorts): Promise<void> {
  const uploader = principal.kind === "run" ? principal.head.run_id : undefined;
  try {
    await uploadStore(table).create(upload, record, uploader);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw error.failed.has("idempotency") ? new IdempotencyRecordExists() : tooManyUploads();
  }
}

/** Finds the upload that the principal may give to a run of this owner. */
export async function findUpload(
  uid: string,
  principal: Principal,
  owner: Owner,
  ports: Pick<RunPorts, "table" | "now">,
): Promise<Upload | undefined> {
  const upload = isUuid(uid) ? await uploadStore(ports.table).read(uid) : undefined;
  if (upload === undefined || upload.uploaded_by !== toPrincipalKey(principal)) return undefined;
  if (upload.team !== undefined && (owner.type !== "Team" || owner.uid !== upload.team)) return undefined;
  // Compared on read, because the table's own expiry lags.
  return ports.now() - upload.created_at > UPLOAD_MS ? undefined : upload;
}

function toUpload(request: CreateAttachmentRequest, principal: Principal, now: number): Upload {
  const uid = randomId();
  const team = chosenTeam(principal);
  return {
    uid,
    uploaded_by: toPrincipalKey(principal),
    ...(team === undefined ? {} : { team }),
    ...request,
    file: fileKeys.upload(uid),
    created_at: now,
  };
}

const tooManyUploads = () =>
  new RunyardError("resource_unavailable", {
    status: 429,
    retryable: false,
    detail: `size_bytes: a run prepares at most ${RUN_CAPS.uploads} uploads of ${RUN_CAPS.uploadBytes} bytes in all`,
  });

function chosenTeam(principal: Principal): string | undefined {
  if (principal.kind === "personal") return principal.activeTeam;
  if (principal.kind === "agent") return principal.team;
  const owner = parseOwner(principal.head);
  return owner.type === "Team" ? owner.uid : undefined;
}

async function toResponse(upload: Upload, { files }: Pick<RunPorts, "files">): Promise<CreateAttachmentResponse> {
  const target = await files.uploadTarget(upload.file, {
    sizeBytes: upload.size_bytes,
    sha256: upload.sha256,
    contentType: upload.mime_type,
  });
  return { attachment_id: upload.uid, upload: target };
}
