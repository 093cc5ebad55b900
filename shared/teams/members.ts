import { notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import { type Member, parseMember } from "#shared/records/member.ts";
import { newUser, roleAttribute } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table, type TransactionWrite } from "#shared/table/table.ts";
import type { Role } from "#shared/wire/role.ts";
import type { MemberItem } from "#shared/wire/team.ts";
import { countMember, MAX_MEMBERS, newMember, type Person } from "./new-team.ts";
import type { TeamPorts } from "./ports.ts";

const ATTEMPTS = 8;

export const toMemberItem = ({ user_uid, email, display_name, role }: Member): MemberItem => ({
  uid: user_uid,
  email,
  display_name,
  role,
});

export const alreadyIn = () =>
  new RunyardError("conflict", { detail: "they are a member of the team already", retryable: false });

interface NewMembership {
  readonly team: string;
  readonly person: Person;
  readonly role: Role;
  /** Whether the person's account is created with the membership. */
  readonly isNewUser: boolean;
}

/**
 * Writes a new membership on both sides, with what else belongs to it. Throws `conflict` where they are a member already,
 * and ConditionFailed with the positions in `also` where one of those failed.
 */
export async function join(
  { team, person, role, isNewUser }: NewMembership,
  also: readonly TransactionWrite[],
  { table, now }: Pick<TeamPorts, "table" | "now">,
): Promise<void> {
  const membership: readonly TransactionWrite[] = [
    countMember(team, 1, role === "admin" ? 1 : 0),
    newMember(team, person, role, now()),
    isNewUser ? newUser(person, { [team]: role }, now()) : addRole(team, person.uid, role),
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
      throw isOpen ? tooMany(MAX_MEMBERS, "members in the team") : notFound("team");
    }
    throw alreadyIn();
  }
}

const addRole = (team: string, user: string, role: Role): TransactionWrite => ({
  kind: "update",
  key: keys.user(user),
  set: { [roleAttribute(team)]: role },
  if: { pk: { exists: true }, [roleAttribute(team)]: { exists: false } },
});

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
  throw retryableConflict("the team's members change too fast; send the request again");
}

export const ANOTHER_ADMIN = { admins: { atLeast: 2 } } as const;

const countAdmin = (team: string, admins: 1 | -1): TransactionWrite => ({
  kind: "update",
  key: keys.team(team),
  add: { admins },
  if: admins > 0 ? { pk: { exists: true } } : ANOTHER_ADMIN,
});

/** False where the membership changed in between. Throws where the team would be left without an admin. */
export async function written(writes: readonly TransactionWrite[], table: Table): Promise<boolean> {
  try {
    await table.transact(writes);
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.positions.some((position) => position > 0)) return false;
    throw lastAdmin();
  }
}

export const lastAdmin = () =>
  new RunyardError("conflict", {
    detail: "the team's last admin stays: make somebody else an admin first, or delete the team",
    retryable: false,
  });

export async function memberCalled(team: string, user: string, table: Table): Promise<Member> {
  const item = await table.get(keys.member(team, user));
  if (item === undefined) throw notFound("user");
  return parseMember(item);
}
