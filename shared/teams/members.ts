import { invalid, lostRace, notFound, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import { foldedEmail, parseUser, roleAttribute, type User } from "#shared/principals/user.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table, type TransactionWrite } from "#shared/table/table.ts";
import type { Role } from "#shared/wire/role.ts";
import type { AddMemberRequest, MemberItem } from "#shared/wire/team.ts";
import { type Member, parseMember } from "./member.ts";
import { countMember, MOST_MEMBERS, newMember, type Person } from "./new-team.ts";
import { MOST_TEAMS, tooManyTeams } from "./people.ts";
import type { TeamPorts } from "./ports.ts";

const ATTEMPTS = 8;

export const toMemberItem = ({ user_uid, email, display_name, role }: Member): MemberItem => ({
  uid: user_uid,
  email,
  display_name,
  role,
});

const alreadyIn = () =>
  new RunyardError("conflict", { detail: "they are a member of the team already", retryable: false });

/** Takes somebody who has an account into the team. */
export async function addMember(
  team: string,
  { uid, email, role = "member" }: AddMemberRequest,
  { table, now }: TeamPorts,
): Promise<MemberItem> {
  const user = await (uid === undefined ? userByEmail(email ?? "", table) : userByUid(uid, table));
  if (user === undefined) {
    throw invalid(uid === undefined ? "email" : "uid", "nobody here has this account; send an invitation instead");
  }
  if (user.teams.some((one) => one.uid === team)) throw alreadyIn();
  if (user.teams.length >= MOST_TEAMS) throw tooManyTeams();
  await join(team, user, role, [], { table, now });
  return { uid: user.uid, email: user.email, display_name: user.displayName, role };
}

/**
 * The writes of a new membership on both sides, with what else belongs to it. Throws `conflict` where they are a member
 * already, and ConditionFailed with the position in `also` where that is what failed.
 */
export async function join(
  team: string,
  person: Person,
  role: Role,
  also: readonly TransactionWrite[],
  { table, now }: Pick<TeamPorts, "table" | "now">,
): Promise<void> {
  const membership: readonly TransactionWrite[] = [
    countMember(team, 1, role === "admin" ? 1 : 0),
    newMember(team, person, role, now()),
    {
      kind: "update",
      key: keys.user(person.uid),
      set: { [roleAttribute(team)]: role },
      if: { pk: { exists: true }, [roleAttribute(team)]: { exists: false } },
    },
  ];
  try {
    await table.transact([...also, ...membership]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    const [first = 0] = error.positions;
    if (first < also.length) throw error;
    if (first === also.length) {
      const item = await table.get(keys.team(team));
      const isOpen = item !== undefined && item["closed"] === undefined;
      throw isOpen ? tooMany(MOST_MEMBERS, "members in the team") : notFound("team");
    }
    throw alreadyIn();
  }
}

/** Gives a member another role. */
export async function changeRole(team: string, user: string, role: Role, { table }: TeamPorts): Promise<MemberItem> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const member = await memberCalled(team, user, table);
    if (member.role === role) return toMemberItem(member);
    const writes: TransactionWrite[] = [
      countAdmin(team, role === "admin" ? 1 : -1),
      { kind: "update", key: keys.member(team, user), set: { role }, if: { role: { eq: member.role } } },
      {
        kind: "update",
        key: keys.user(user),
        set: { [roleAttribute(team)]: role },
        if: { [roleAttribute(team)]: { eq: member.role } },
      },
    ];
    if (await written(writes, table)) return toMemberItem({ ...member, role });
  }
  throw lostRace("the team's members change too fast; send the request again");
}

/** Takes a member out of the team: from the next request on, they see nothing of it. */
export async function removeMember(team: string, user: string, { table }: TeamPorts): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const member = await memberCalled(team, user, table);
    const isAdmin = member.role === "admin";
    const counted = countMember(team, -1, isAdmin ? -1 : 0);
    const writes: TransactionWrite[] = [
      isAdmin ? { ...counted, if: ANOTHER_ADMIN } : counted,
      { kind: "delete", key: keys.member(team, user), if: { role: { eq: member.role } } },
      { kind: "update", key: keys.user(user), remove: [roleAttribute(team)] },
    ];
    if (await written(writes, table)) return;
  }
  throw lostRace("the team's members change too fast; send the request again");
}

const ANOTHER_ADMIN = { admins: { atLeast: 2 } } as const;

const countAdmin = (team: string, admins: 1 | -1): TransactionWrite => ({
  kind: "update",
  key: keys.team(team),
  add: { admins },
  if: admins > 0 ? { pk: { exists: true } } : ANOTHER_ADMIN,
});

/** False where the membership changed in between. Throws where the team would be left without an admin. */
async function written(writes: readonly TransactionWrite[], table: Table): Promise<boolean> {
  try {
    await table.transact(writes);
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.positions.some((position) => position > 0)) return false;
    throw new RunyardError("conflict", {
      detail: "the team's last admin stays: make somebody else an admin first, or delete the team",
      retryable: false,
    });
  }
}

async function memberCalled(team: string, user: string, table: Table): Promise<Member> {
  const item = await table.get(keys.member(team, user));
  if (item === undefined) throw notFound("user");
  return parseMember(item);
}

async function userByUid(uid: string, table: Table): Promise<User | undefined> {
  const item = isUuid(uid) ? await table.get(keys.user(uid)) : undefined;
  return item === undefined ? undefined : parseUser(item);
}

async function userByEmail(email: string, table: Table): Promise<User | undefined> {
  const item = await table.get(keys.userByEmail(foldedEmail(email)));
  const uid = item?.["user_uid"];
  return typeof uid === "string" ? userByUid(uid, table) : undefined;
}
