import { RunyardError } from "#shared/errors.ts";
import { parseTeam } from "#shared/records/team.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

/** False where a team forbids that everybody may see its runs. Personal runs are their creator's to share. */
export async function isSharingAllowed({ type, uid }: Owner, table: Pick<Table, "batchGet">): Promise<boolean> {
  if (type === "User") return true;
  const [team] = await table.batchGet([keys.team(uid)]);
  return team === undefined || parseTeam(team).sharing_allowed !== false;
}

/** @throws RunyardError 403 where the team forbids public sharing; `field` names what requests it */
export async function requireSharing(owner: Owner, field: string, table: Pick<Table, "batchGet">): Promise<void> {
  if (await isSharingAllowed(owner, table)) return;
  throw new RunyardError("feature_not_available", {
    detail: `${field}: the team's setting sharing_allowed is false; an admin of the team can change it`,
  });
}
