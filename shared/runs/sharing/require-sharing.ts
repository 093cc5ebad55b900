import { RunyardError } from "#shared/errors.ts";
import { isSharingAllowed } from "#shared/records/team.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

/** @throws RunyardError 403 where the team forbids public runs; `field` names what requests it */
export async function requireSharing(owner: Owner, field: string, table: Pick<Table, "batchGet">): Promise<void> {
  if (await isSharingAllowed(owner, table)) return;
  throw new RunyardError("feature_not_available", {
    detail: `${field}: the team's setting sharing_allowed is false; an admin of the team can change it`,
  });
}
