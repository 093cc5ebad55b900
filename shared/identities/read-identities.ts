import { sortByText } from "#shared/arrays.ts";
import { notFound, RunyardError } from "#shared/errors.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { Table } from "#shared/table/table.ts";
import { type FoundIdentity, identityStore } from "./identity-store.ts";

/** Refuses to change an identity beyond the plan's limit, or to give it keys. */
export function refuseUnavailable({ available }: FoundIdentity): void {
  if (available) return;
  throw new RunyardError("feature_not_available", {
    detail:
      "the identity is beyond the number that the team's plan allows; delete an older one, or raise identity_limit",
  });
}

/**
 * Reads an identity of the caller's teams.
 * @throws RunyardError 404 where it does not exist or belongs to another team
 */
export async function readIdentity(uid: string, principal: Principal, table: Table): Promise<FoundIdentity> {
  const found = await identityStore(table).find(listTeamsToRead(principal), uid);
  if (found === undefined) throw notFound("identity");
  return found;
}

/** All identities of the caller's teams, oldest first. */
export async function readIdentities(principal: Principal, table: Table): Promise<FoundIdentity[]> {
  const store = identityStore(table);
  const found = await Promise.all(listTeamsToRead(principal).map(store.list));
  return sortByText(found.flat(), ({ identity }) => identity.uid);
}
