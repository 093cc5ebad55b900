import { invalid, RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { isUuid, randomId } from "#shared/ids.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import { parseOwner, type RunHead } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type {
  CreateAttachmentRequest,
  CreateAttachmentResponse,
  PrepareAttachmentsRequest,
  PrepareAttachmentsResponse,
} from "#shared/wire/attachment.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { RunPorts } from "./run-ports.ts";
import { UPLOAD_MS, type Upload, uploadStore } from "./upload-store.ts";

interface PreparedUploads<T> {
  readonly response: T;
  readonly replayed: boolean;
}

/** Prepares the upload of a file and returns where to send it; a repeated request gets the same upload. */
export async function prepareUpload(
  request: CreateAttachmentRequest,
  principal: Principal,
  once: IdempotentRequest,
  ports: RunPorts,
): Promise<PreparedUploads<CreateAttachmentResponse>> {
  const { response, replayed } = await prepareUploads([request], {}, { principal, once }, toTarget, ports);
  const [only] = response;
  if (only === undefined) throw new RunyardError("internal_error");
  return { response: only, replayed };
}

/** Prepares the uploads of files for follow-ups of a run. */
export async function prepareFollowupUploads(
  { head: { run_id }, principal, once }: UploadCall & { readonly head: Pick<RunHead, "run_id"> },
  request: PrepareAttachmentsRequest,
  ports: RunPorts,
): Promise<PreparedUploads<PrepareAttachmentsResponse>> {
  const files = readFiles(request);
  const prepared = await prepareUploads(files, { run: run_id }, { principal, once }, toPlainTarget, ports);
  return { ...prepared, response: { attachments: prepared.response } };
}

type RequestedFile = Pick<Upload, "file_name" | "mime_type" | "size_bytes" | "sha256">;

function readFiles({ files, attachments }: PrepareAttachmentsRequest): readonly RequestedFile[] {
  if (files !== undefined && attachments !== undefined) {
    throw invalid("attachments", "is another name of files: send one of the two");
  }
  const all = attachments ?? files?.map(({ filename, ...file }) => ({ file_name: filename, ...file })) ?? [];
  if (all.length === 0) throw invalid(attachments === undefined ? "files" : "attachments", "must have at least 1 item");
  return all;
}

interface UploadCall {
  readonly principal: Principal;
  readonly once: IdempotentRequest;
}

async function prepareUploads<T>(
  files: readonly RequestedFile[],
  place: Pick<Upload, "run">,
  { principal, once }: UploadCall,
  toResponse: (upload: Upload, ports: Pick<RunPorts, "files">) => Promise<T>,
  ports: RunPorts,
): Promise<PreparedUploads<T[]>> {
  const respond = async (uploads: readonly Upload[], replayed: boolean) => ({
    response: await Promise.all(uploads.map((upload) => toResponse(upload, ports))),
    replayed,
  });
  return runIdempotent<PreparedUploads<T[]>>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      const uploads = files.map((file) => ({ ...toUpload(file, principal, ports.now()), ...place }));
      await storeUploads(uploads, record(uploads.map(({ uid }) => uid).join(" ")), principal, ports);
      return respond(uploads, false);
    },
    async (uids) => {
      const uploads = await uploadStore(ports.table).readAll(uids.split(" "));
      const present = uploads.filter((upload) => upload !== undefined);
      if (present.length < uploads.length) throw new RunyardError("internal_error");
      return respond(present, true);
    },
  );
}

async function storeUploads(
  uploads: readonly Upload[],
  record: Put,
  principal: Principal,
  { table }: RunPorts,
): Promise<void> {
  const uploader = principal.kind === "run" ? principal.head.run_id : undefined;
  try {
    await uploadStore(table).create(uploads, record, uploader);
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
  return upload !== undefined && isUsable(upload, principal, owner, ports.now()) ? upload : undefined;
}

/** Finds the uploads that the principal may send with a follow-up of this run, in the order of their ids. */
export async function findFollowupUploads(
  uids: readonly string[],
  principal: Principal,
  head: RunHead,
  ports: Pick<RunPorts, "table" | "now">,
): Promise<(Upload | undefined)[]> {
  const known = [...new Set(uids.filter(isUuid))];
  const uploads = known.length === 0 ? [] : await uploadStore(ports.table).readAll(known);
  const byUid = new Map(uploads.flatMap((upload) => (upload === undefined ? [] : [[upload.uid, upload] as const])));
  return uids.map((uid) => {
    const upload = byUid.get(uid);
    return upload !== undefined && isUsable(upload, principal, parseOwner(head), ports.now(), head.run_id)
      ? upload
      : undefined;
  });
}

/** Whether the principal may give the upload to a run of this owner, or to the follow-ups of `run`. */
function isUsable(upload: Upload, principal: Principal, owner: Owner, now: number, run?: string): boolean {
  // Compared on read, because the table's own expiry lags.
  if (now - upload.created_at > UPLOAD_MS) return false;
  if (upload.run !== undefined) return upload.run === run;
  if (upload.uploaded_by !== toPrincipalKey(principal)) return false;
  return upload.team === undefined || (owner.type === "Team" && owner.uid === upload.team);
}

function toUpload(request: RequestedFile, principal: Principal, now: number): Upload {
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

async function toTarget(upload: Upload, ports: Pick<RunPorts, "files">): Promise<CreateAttachmentResponse> {
  const { upload_target } = await toPlainTarget(upload, ports);
  return { attachment_id: upload.uid, upload: upload_target };
}

type PlainTarget = PrepareAttachmentsResponse["attachments"][number];

/** The URL takes a plain PUT. The target also checks size and digest, where both are known. */
async function toPlainTarget(upload: Upload, { files }: Pick<RunPorts, "files">): Promise<PlainTarget> {
  const { uid, file, mime_type, size_bytes, sha256 } = upload;
  const { url, expiresAt } = await files.uploadUrl(file, { sizeBytes: size_bytes, contentType: mime_type });
  const target =
    size_bytes === undefined || sha256 === undefined
      ? ({ url, method: "PUT", headers: { "content-type": mime_type } } as const)
      : await files.uploadTarget(file, { sizeBytes: size_bytes, sha256, contentType: mime_type });
  return { attachment_id: uid, upload_url: url, upload_target: target, expires_at: toTimestamp(expiresAt) };
}
