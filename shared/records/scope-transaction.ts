import { retryableConflict } from "#shared/errors.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites, transact } from "#shared/table/transact.ts";

/**
 * Creates objects in a scope, all or nothing.
 * @throws ConflictError naming the failed writes
 * @throws RunyardError a retryable `conflict` where the scope's team is deleted or being deleted, so that no object remains
 * without an owner
 */
export async function transactInScope(
  { type, uid }: Owner,
  writes: NamedWrites,
  table: Pick<Table, "transact">,
): Promise<void> {
  if (type === "User") return transact(table, writes);
  const isOpen = { pk: { exists: true }, closed: { exists: false } } as const;
  try {
    await transact(table, { ...writes, openTeam: { kind: "check", key: keys.team(uid), if: isOpen } });
  } catch (error) {
    const isGone = error instanceof ConflictError && error.failed.has("openTeam");
    throw isGone ? retryableConflict("the team is deleted; send the request again") : error;
  }
}
