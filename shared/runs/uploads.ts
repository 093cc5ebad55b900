import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { isUuid, randomId } from "#shared/ids.ts";
import { type Principal, principalKey } from "#shared/principals/principal.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import { ownerOf } from "#shared/records/run-head.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { ConditionFailed, type Update } from "#shared/table/table.ts";
import type { CreateAttachmentRequest, CreateAttachmentResponse } from "#shared/wire/attachment.ts";
import type { RunPorts } from "./ports.ts";

/** How long an upload may be given to new runs. */
const UPLOAD_MS = 24 * 3600 * 1000;

/** A file that a caller uploads before the run that it is for. */
const Upload = v.object({
  uid: v.string(),
  uploaded_by: v.string(),
  /** The team that the caller named or is of: then only its runs may have the file. */
  team: v.exactOptional(v.string()),
  file_name: v.string(),
  mime_type: v.string(),
  size_bytes: v.number(),
  sha256: v.string(),
  file: v.string(),
  created_at: v.number(),
});
export type Upload = v.InferOutput<typeof Upload>;

interface PreparedUpload {
  readonly place: CreateAttachmentResponse;
  readonly replayed: boolean;
}

/** Makes a place for a file and answers where to upload it; a repeat gets the same place. */
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
      const upload = newUpload(request, principal, ports.now());
      const counted = countUpload(principal, upload.size_bytes);
      const expiresAt = Math.ceil((upload.created_at + UPLOAD_MS) / 1000);
      try {
        await ports.table.transact([
          { kind: "put", item: { ...keys.upload(upload.uid), v: 1, ...upload, expires_at: expiresAt } },
          record(upload.uid),
          ...counted,
        ]);
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        throw error.positions.includes(1) ? new IdempotencyRecordExists() : tooManyUploads();
      }
      return { place: await targetOf(upload, ports), replayed: false };
    },
    async (uid) => {
      const upload = await readUpload(uid, ports);
      if (upload === undefined) throw new RunyardError("internal_error");
      return { place: await targetOf(upload, ports), replayed: true };
    },
  );
}

/** The upload that the principal may give to a run of this owner; undefined where there is none such. */
export async function uploadFor(
  uid: string,
  principal: Principal,
  owner: Owner,
  ports: Pick<RunPorts, "table" | "now">,
): Promise<Upload | undefined> {
  const upload = isUuid(uid) ? await readUpload(uid, ports) : undefined;
  if (upload === undefined || upload.uploaded_by !== principalKey(principal)) return undefined;
  if (upload.team !== undefined && (owner.type !== "Team" || owner.uid !== upload.team)) return undefined;
  // Compared on read, because the table's own expiry lags.
  return ports.now() - upload.created_at > UPLOAD_MS ? undefined : upload;
}

async function readUpload(uid: string, { table }: Pick<RunPorts, "table">): Promise<Upload | undefined> {
  const item = await table.get(keys.upload(uid));
  return item === undefined ? undefined : v.parse(Upload, item);
}

function newUpload(request: CreateAttachmentRequest, principal: Principal, now: number): Upload {
  const uid = randomId();
  const team = teamOf(principal);
  return {
    uid,
    uploaded_by: principalKey(principal),
    ...(team === undefined ? {} : { team }),
    ...request,
    file: fileKeys.upload(uid),
    created_at: now,
  };
}

/** What a run's own key prepares is counted at the run, for as long as the run exists: the key makes as many requests as it likes. */
function countUpload(principal: Principal, sizeBytes: number): Update[] {
  if (principal.kind !== "run") return [];
  return [
    {
      kind: "update",
      key: keys.head(principal.head.run_id),
      add: { uploads: 1, upload_bytes: sizeBytes },
      if: {
        uploads: { absentOr: { below: RUN_CAPS.uploads } },
        upload_bytes: { absentOr: { below: RUN_CAPS.uploadBytes - sizeBytes + 1 } },
      },
    },
  ];
}

const tooManyUploads = () =>
  new RunyardError("resource_unavailable", {
    status: 429,
    retryable: false,
    detail: `size_bytes: a run prepares at most ${RUN_CAPS.uploads} uploads of ${RUN_CAPS.uploadBytes} bytes in all`,
  });

function teamOf(principal: Principal): string | undefined {
  if (principal.kind === "personal") return principal.activeTeam;
  if (principal.kind === "agent") return principal.team;
  const owner = ownerOf(principal.head);
  return owner.type === "Team" ? owner.uid : undefined;
}

async function targetOf(upload: Upload, { files }: Pick<RunPorts, "files">): Promise<CreateAttachmentResponse> {
  const target = await files.uploadTarget(upload.file, {
    sizeBytes: upload.size_bytes,
    sha256: upload.sha256,
    contentType: upload.mime_type,
  });
  return { attachment_id: upload.uid, upload: target };
}
