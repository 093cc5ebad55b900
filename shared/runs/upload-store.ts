import * as v from "valibot";
import { RUN_CAPS } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table, Update } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { UPLOAD_BYTES } from "#shared/wire/runs/followup.ts";

/** How long an upload may be given to new runs. */
export const UPLOAD_MS = 24 * 3600 * 1000;

/** A file that a caller uploads before the run that it is for. */
const Upload = v.object({
  uid: v.string(),
  uploaded_by: v.string(),
  /** The team that the caller named or is of: then only its runs may have the file. */
  team: v.exactOptional(v.string()),
  /** The run for whose follow-ups it was prepared: then only they may have the file, no matter which principal sends them. */
  run: v.exactOptional(v.string()),
  file_name: v.string(),
  mime_type: v.string(),
  /** Absent where the request that prepared it did not name it. */
  size_bytes: v.exactOptional(v.number()),
  sha256: v.exactOptional(v.string()),
  file: v.string(),
  created_at: v.number(),
});
export type Upload = v.InferOutput<typeof Upload>;

/** The files that callers upload before their runs. */
export function uploadStore(table: Pick<Table, "get" | "batchGet" | "transact">) {
  return {
    async read(uid: string): Promise<Upload | undefined> {
      const item = await table.get(keys.upload(uid));
      return item === undefined ? undefined : v.parse(Upload, item);
    },

    /**
     * Creates uploads with the record of their request. Uploads that a run's own key prepares are counted at that run, `uploader`.
     * @throws ConflictError: `idempotency` where the request was served before, `uploader` where the run has too many
     */
    create: (uploads: readonly Upload[], idempotency: Put, uploader: string | undefined): Promise<void> =>
      transact(table, {
        uploads: uploads.map((upload) => ({
          kind: "put",
          item: {
            ...keys.upload(upload.uid),
            v: 1,
            ...upload,
            expires_at: Math.ceil((upload.created_at + UPLOAD_MS) / 1000),
          },
        })),
        idempotency,
        uploader: uploader === undefined ? undefined : countUploads(uploader, uploads),
      }),

    /** Reads uploads in the order of their ids; undefined where there is none. */
    async readAll(uids: readonly string[]): Promise<(Upload | undefined)[]> {
      const items = await table.batchGet(uids.map(keys.upload));
      return items.map((item) => (item === undefined ? undefined : v.parse(Upload, item)));
    },
  };
}

/** Counted for as long as the run exists: its key sends as many requests as it likes. */
function countUploads(runId: string, uploads: readonly Upload[]): Update {
  // A file of unknown size may have the most that is accepted.
  const bytes = uploads.reduce((sum, { size_bytes = UPLOAD_BYTES }) => sum + size_bytes, 0);
  return {
    kind: "update",
    key: keys.head(runId),
    add: { uploads: uploads.length, upload_bytes: bytes },
    if: {
      uploads: { absentOr: { below: RUN_CAPS.uploads - uploads.length + 1 } },
      upload_bytes: { absentOr: { below: RUN_CAPS.uploadBytes - bytes + 1 } },
    },
  };
}
