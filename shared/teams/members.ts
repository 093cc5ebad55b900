import { notFound, RunyardError } from "#shared/errors.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import type { Member } from "#shared/records/member.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import type { Role } from "#shared/wire/role.ts";
import type { MemberItem } from "#shared/wire/team.ts";
import { MAX_MEMBERS, memberStore, type NewMembership } from "./member-store.ts";
import type { TeamPorts } from "./team-ports.ts";
import { teamStore } from "./team-store.ts";

/** Teams that one person may be in. */
export const MAX_TEAMS = 50;

export const tooManyTeams = (): RunyardError =>
  new RunyardError("conflict", { detail: `a person is in ${MAX_TEAMS} teams at most`, retryable: false });

export const alreadyMember = () =>
  new RunyardError("conflict", { detail: "the user is already a member of the team", retryable: false });

const lastAdmin = () =>
  new RunyardError("conflict", {
    detail: "the team's last admin stays: make somebody else an admin first, or delete the team",
    retryable: false,
  });

export const MEMBERS_CHANGED = "the team's members are";

const toMemberItem = ({ user_uid, email, display_name, role }: Member): MemberItem => ({
  uid: user_uid,
  email,
  display_name,
  role,
});

/** The members of a team. */
export const readMembers = async (team: string, table: Table): Promise<MemberItem[]> =>
  (await memberStore(table).list(team)).map(toMemberItem);

/**
 * Adds a member together with the writes `also`.
 * @throws RunyardError `conflict` where they are a member already or the team is full
 * @throws ConflictError if one of the writes in `also` failed
 */
export async function addMember(
  membership: NewMembership,
  also: NamedWrites,
  { table, now }: Pick<TeamPorts, "table" | "now">,
): Promise<void> {
  try {
    await memberStore(table).add(membership, now(), also);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const { failed } = error;
    if (Object.keys(also).some((name) => failed.has(name))) throw error;
    if (!failed.has("count")) throw alreadyMember();
    const isOpen = await teamStore(table).isOpen(membership.team);
    throw isOpen ? tooMany(MAX_MEMBERS, "members in the team") : notFound("team");
  }
}

/** Changes the role of a member. */
export async function changeRole(team: string, user: string, role: Role, { table }: TeamPorts): Promise<MemberItem> {
  return retryOnConflict(MEMBERS_CHANGED, async () => {
    const member = await readMember(team, user, table);
    if (member.role === role) return toMemberItem(member);
    await keepAdmin(memberStore(table).changeRole(team, member, role));
    return toMemberItem({ ...member, role });
  });
}

/** @throws RunyardError where the team would have no admin left. ConflictError where the membership changed since it was read. */
export async function keepAdmin(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw error instanceof ConflictError && error.failedOnly("count") ? lastAdmin() : error;
  }
}

/** Refuses early, before keys are revoked, to remove the last admin of a team. */
export async function refuseLastAdmin(team: string, { role }: Member, table: Table): Promise<void> {
  const admins = role === "admin" ? await teamStore(table).countAdmins(team) : undefined;
  if (admins !== undefined && admins < 2) throw lastAdmin();
}

export async function readMember(team: string, user: string, table: Table): Promise<Member> {
  const member = await memberStore(table).get(team, user);
  if (member === undefined) throw notFound("user");
  return member;
}
