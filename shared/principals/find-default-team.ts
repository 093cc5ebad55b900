import { parseOwner } from "#shared/records/run-head.ts";
import { readTeam, type Team } from "#shared/records/team.ts";
import type { Table } from "#shared/table/table.ts";
import type { Principal } from "./principal.ts";

/** The team whose defaults the caller's runs get: the active or only one, or that of the calling run. */
export async function findDefaultTeam(principal: Principal, table: Table): Promise<Team | undefined> {
  if (principal.kind === "agent") return principal.teamItem;
  if (principal.kind === "personal") {
    const { activeTeam, teams, teamItem } = principal;
    return activeTeam === undefined && teams.length > 1 ? undefined : teamItem;
  }
  const owner = parseOwner(principal.head);
  return owner.type === "Team" ? readTeam(owner.uid, table) : undefined;
}
