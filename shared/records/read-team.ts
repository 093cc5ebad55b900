import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { type Identity, parseIdentity } from "./identity.ts";
import { parseAvailable } from "./identity-register.ts";
import { parseTeam, type Team } from "./team.ts";
import { parseUser } from "./user.ts";

interface TeamIdentity {
  readonly team: Team | undefined;
  readonly identity: Identity | undefined;
  /** True if the identity is within the limit of the team's plan. */
  readonly isAvailable: boolean;
}

/** Reads a team and one of its identities in one read; the team only where `uid` is undefined. */
export async function readTeamIdentity(
  teamUid: string,
  uid: string | undefined,
  table: Pick<Table, "batchGet">,
): Promise<TeamIdentity> {
  const identityKeys = uid === undefined ? [] : [keys.identity(teamUid, uid), keys.identities(teamUid)];
  const [team, identity, register] = await table.batchGet([keys.team(teamUid), ...identityKeys]);
  return {
    team: team === undefined ? undefined : parseTeam(team),
    identity: identity === undefined ? undefined : parseIdentity(identity),
    isAvailable: uid !== undefined && parseAvailable(register).has(uid),
  };
}

export const isMember = async (team: string, user: string, table: Pick<Table, "get">): Promise<boolean> =>
  (await table.get(keys.member(team, user))) !== undefined;

/** The teams whose resources a run may use: the one that it belongs to, or those that its person is in now. */
export async function listTeamsOfOwner({ type, uid }: Owner, table: Pick<Table, "get">): Promise<readonly string[]> {
  if (type === "Team") return [uid];
  const user = await table.get(keys.user(uid));
  return user === undefined ? [] : parseUser(user).teams.map((team) => team.uid);
}
