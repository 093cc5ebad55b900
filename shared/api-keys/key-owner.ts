import { RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { Identity } from "#shared/records/identity.ts";
import type { KeyOwner } from "./key-list.ts";

/** The caller as the holder of keys of their own. */
export function keyOwnerOf(principal: Principal): KeyOwner {
  if (principal.kind !== "personal")
    throw new RunyardError("not_authorized", { detail: "this call is for personal keys" });
  const { activeTeam, teams, user } = principal;
  return { kind: "personal", user: user.uid, defaultTeam: activeTeam ?? teams[0]?.uid };
}

export const identityKeyOwner = ({ uid, team_uid }: Identity): KeyOwner => ({
  kind: "agent",
  identity: uid,
  team: team_uid,
});
