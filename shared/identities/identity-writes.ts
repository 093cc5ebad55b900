import type { Identity } from "#shared/records/identity.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put } from "#shared/table/table.ts";
import { claimName } from "#shared/table/unique-name.ts";

const DEFAULT_NAME = "Default agent";

/** The identity that every team has from its beginning. */
export function defaultIdentity(team: string, uid: string, now: number): Put[] {
  const identity = { uid, team_uid: team, name: DEFAULT_NAME, created_at: now, updated_at: now, is_default: true };
  return [putIdentity(identity), claimIdentityName(identity)];
}

export const putIdentity = (identity: Identity): Put => ({
  kind: "put",
  item: { ...keys.identity(identity.team_uid, identity.uid), v: 1, ...identity },
  if: { pk: { exists: false } },
});

export const NAME_KIND = "identity";

export const claimIdentityName = ({ team_uid, name, uid }: Pick<Identity, "team_uid" | "name" | "uid">): Put =>
  claimName({ type: "Team", uid: team_uid }, NAME_KIND, name, uid);
