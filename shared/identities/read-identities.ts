import { notFound, RunyardError } from "#shared/errors.ts";
import { teamsToRead } from "#shared/principals/default-team.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { type Identity, parseIdentity } from "#shared/records/identity.ts";
import { availableIn } from "#shared/records/identity-register.ts";
import { keys, teamPk } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

export interface FoundIdentity {
  readonly identity: Identity;
  /** Whether it is within its team's plan limit. */
  readonly available: boolean;
}

/** What is not available can neither be changed nor given keys. */
export function refuseUnavailable({ available }: FoundIdentity): void {
  if (available) return;
  throw new RunyardError("feature_not_available", {
    detail: "the identity is beyond the number that the team's plan has; delete an older one, or raise identity_limit",
  });
}

/** The identity, if it is of a team of the caller's; else 404, whether it exists or not. */
export async function visibleIdentity(uid: string, principal: Principal, table: Table): Promise<FoundIdentity> {
  const teams = teamsToRead(principal);
  const items = await table.batchGet(teams.flatMap((team) => [keys.identities(team), keys.identity(team, uid)]));
  for (const index of teams.keys()) {
    const item = items[2 * index + 1];
    if (item !== undefined) return { identity: parseIdentity(item), available: availableIn(items[2 * index]).has(uid) };
  }
  throw notFound("identity");
}

/** All identities of the caller's teams, oldest first. */
export async function visibleIdentities(principal: Principal, table: Table): Promise<FoundIdentity[]> {
  const found = await Promise.all(teamsToRead(principal).map((team) => identitiesOf(team, table)));
  return found.flat().sort((a, b) => (a.identity.uid < b.identity.uid ? -1 : 1));
}

async function identitiesOf(team: string, table: Table): Promise<FoundIdentity[]> {
  const register = keys.identities(team);
  const range = { from: register.sk, to: keys.identity(team, "\u{10ffff}").sk };
  const { items } = await table.query({ pk: teamPk(team), ...range });
  const available = availableIn(items.find(({ sk }) => sk === register.sk));
  return items
    .filter(({ sk }) => sk !== register.sk)
    .map(parseIdentity)
    .map((identity) => ({ identity, available: available.has(identity.uid) }));
}
