import { RunyardError, retryableConflict } from "#shared/errors.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { foldEmail } from "#shared/records/user.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { Me, UpdateMeRequest } from "#shared/wire/team.ts";
import type { TeamPorts } from "./team-ports.ts";
import { teamStore } from "./team-store.ts";
import { userStore } from "./user-store.ts";

/** The caller with the teams that they are in. */
export async function readMe({ user, teams }: PersonalPrincipal, { table }: Pick<TeamPorts, "table">): Promise<Me> {
  const found = await teamStore(table).getMany(teams.map(({ uid }) => uid));
  return {
    uid: user.uid,
    display_name: user.displayName,
    email: user.email,
    teams: teams.flatMap(({ uid, role }) => {
      const team = found.get(uid);
      return team === undefined ? [] : [{ uid, name: team.name, role }];
    }),
  };
}

/** Changes the caller's name, also in the member lists of their teams. */
export async function changeMe(
  principal: PersonalPrincipal,
  { display_name, email }: UpdateMeRequest,
  { table }: Pick<TeamPorts, "table">,
): Promise<Me> {
  const { user, teams } = principal;
  if (email && foldEmail(email) !== foldEmail(user.email)) {
    throw new RunyardError("operation_not_supported", { detail: "email: it belongs to your sign-in; change it there" });
  }
  const displayName = display_name ?? user.displayName;
  try {
    await userStore(table).rename(
      user.uid,
      teams.map(({ uid }) => uid),
      displayName,
    );
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw retryableConflict("your teams changed meanwhile; send the request again");
  }
  return readMe({ ...principal, user: { ...user, displayName } }, { table });
}
