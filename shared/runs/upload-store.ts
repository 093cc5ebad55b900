import * as v from "valibot";
import { RUN_CAPS } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table, Update } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/** How long an upload may be given to new runs. */
export const UPLOAD_MS = 24 * 3600 * 1000;

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

/** The files that callers upload before their runs. */
export function uploadStore(table: Pick<Table, "get" | "transact">) {
  return {
    async read(uid: string): Promise<Upload | undefined> {
      const item = await table.get(keys.upload(uid));
      return item === undefined ? undefined : v.parse(Upload, item);
    },

    /**
     * Creates an upload with the record of its request. An upload that a run's own key prepares is counted at that run,
     * `uploader`.
     * @throws ConflictError: `idempotency` where the request was served before, `uploader` where the run has too many
     */
    create: (upload: Upload, idempotency: Put, uploader: string | undefined): Promise<void> =>
      transact(table, {
        upload: {
          kind: "put",
          item: {
            ...keys.upload(upload.uid),
            v: 1,
            ...upload,
            expires_at: Math.ceil((upload.created_at + UPLOAD_MS) / 1000),
          },
        },
        idempotency,
        uploader: uploader === undefined ? undefined : countUpload(uploader, upload.size_bytes),
      }),
  };
}

/** Counted for as long as the run exists: its key sends as many requests as it likes. */
const countUpload = (runId: string, sizeBytes: number): Update => ({
  kind: "update",
  key: keys.head(runId),
  add: { uploads: 1, upload_bytes: sizeBytes },
  if: {
    uploads: { absentOr: { below: RUN_CAPS.uploads } },
    upload_bytes: { absentOr: { below: RUN_CAPS.uploadBytes - sizeBytes + 1 } },
  },
});
