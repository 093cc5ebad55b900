import type { RunBody } from "#shared/records/run-body.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/**
 * Stores who may see a run besides its owner; undefined: nobody. What its configuration says of that is removed, so that runs below it
 * cannot refer to it.
 * @throws ConflictError naming `body` if the run is deleted, and `idempotency` if the request's record exists
 */
export async function storeSharing(
  { run_id }: RunHead,
  { config: { session_sharing: _, ...config } }: RunBody,
  access: RunBody["public_access"],
  record: Put | undefined,
  table: Pick<Table, "transact">,
): Promise<void> {
  const key = keys.body(run_id);
  const change =
    access === undefined ? { set: { config }, remove: ["public_access"] } : { set: { config, public_access: access } };
  await transact(table, {
    body: { kind: "update", key, ...change, if: { pk: { exists: true } } },
    idempotency: record,
  });
}
