import { RunyardError, retryableConflict } from "#shared/errors.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { parseTeam, type Team } from "#shared/records/team.ts";
import { foldedEmail } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table, type TransactionWrite } from "#shared/table/table.ts";
import type { Me, UpdateMeRequest } from "#shared/wire/team.ts";
import type { TeamPorts } from "./ports.ts";

/** The caller with the teams that they are in. */
export async function readMe({ user, teams }: PersonalPrincipal, { table }: Pick<TeamPorts, "table">): Promise<Me> {
  const found = await teamsOf(
    teams.map(({ uid }) => uid),
    table,
  );
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

/** Teams by uid; a person is in no more of them than one read takes. */
export async function teamsOf(uids: readonly string[], table: Table): Promise<Map<string, Team>> {
  const items = uids.length === 0 ? [] : await table.batchGet(uids.map(keys.team));
  return new Map(items.filter((item) => item !== undefined).map((item) => [parseTeam(item).uid, parseTeam(item)]));
}

/** Changes the caller's name, also where their teams show it. */
export async function updateMe(
  principal: PersonalPrincipal,
  { display_name, email }: UpdateMeRequest,
  { table }: Pick<TeamPorts, "table">,
): Promise<Me> {
  const { user, teams } = principal;
  if (email && foldedEmail(email) !== foldedEmail(user.email)) {
    throw new RunyardError("operation_not_supported", { detail: "email: it belongs to your sign-in; change it there" });
  }
  const displayName = display_name ?? user.displayName;
  const set = { display_name: displayName };
  const writes: TransactionWrite[] = [
    { kind: "update", key: keys.user(user.uid), set, if: { pk: { exists: true } } },
    ...teams.map(({ uid }): TransactionWrite => {
      return { kind: "update", key: keys.member(uid, user.uid), set, if: { pk: { exists: true } } };
    }),
  ];
  try {
    await table.transact(writes);
  } catch (error) {
    if (error instanceof ConditionFailed)
      throw retryableConflict("your teams changed in between; send the request again");
    throw error;
  }
  return readMe({ ...principal, user: { ...user, displayName } }, { table });
}
