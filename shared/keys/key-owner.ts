import { RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { Identity } from "#shared/records/identity.ts";

/** The owner of API keys: a person or an identity. */
export type KeyOwner =
  | {
      readonly kind: "personal";
      readonly user: string;
      /** The team that requests with the key most likely concern, if there is one. */
      readonly defaultTeam: string | undefined;
    }
  | { readonly kind: "agent"; readonly identity: string; readonly team: string };

/**
 * The caller as the owner of personal keys.
 * @throws RunyardError `not_authorized` where the caller is not a person
 */
export function toPersonalKeyOwner(principal: Principal): KeyOwner {
  if (principal.kind !== "personal")
    throw new RunyardError("not_authorized", { detail: "this call is for personal keys" });
  const { activeTeam, teams, user } = principal;
  return { kind: "personal", user: user.uid, defaultTeam: activeTeam ?? teams[0]?.uid };
}

export const toIdentityKeyOwner = ({ uid, team_uid }: Pick<Identity, "uid" | "team_uid">): KeyOwner => ({
  kind: "agent",
  identity: uid,
  team: team_uid,
});
