import { type Revocation, revokeKeys } from "#shared/keys/key-store.ts";
import { listMembers, type Member, type Person, parseMember, putMember } from "#shared/records/member.ts";
import { addRole, putUser, removeRole, replaceRole } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import { type Table, type TransactionWrite, type Update, valueUnchanged } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import type { Role } from "#shared/wire/role.ts";

/** Members of one team: a list of them is read whole, and the team's deletion removes them one by one. */
export const MAX_MEMBERS = 1000;

export interface NewMembership {
  readonly team: string;
  readonly person: Person;
  readonly role: Role;
  /** Whether the person's account is created with the membership, by an invitation. */
  readonly isNewUser: boolean;
}

/** Memberships: the team's item of each member, the role in the user's item, and the team's counts of members and admins. */
export function memberStore(table: Table) {
  return {
    list: (team: string): Promise<Member[]> => listMembers(team, table),

    async get(team: string, user: string): Promise<Member | undefined> {
      const item = await table.get(keys.member(team, user));
      return item === undefined ? undefined : parseMember(item);
    },

    /**
     * Adds a member, after the writes `also` of the same transaction.
     * @throws ConflictError naming `count` where the team is full, closed or deleted, `member` and `role` where the person is
     * a member already, and the names in `also`
     */
    async add({ team, person, role, isNewUser }: NewMembership, now: number, also: NamedWrites): Promise<void> {
      await transact(table, {
        ...also,
        count: countMember(team, 1, role === "admin" ? 1 : 0),
        member: putMember(team, person, role, now),
        role: isNewUser ? putUser(person, { [team]: role }, now, "invitation") : addRole(team, person.uid, role),
      });
    },

    /**
     * Changes the role of a member.
     * @throws ConflictError naming only `count` where the team would have no admin left; other names where the membership
     * changed since it was read
     */
    async changeRole(team: string, { user_uid: user, role: before }: Member, role: Role): Promise<void> {
      await transact(table, {
        count: countAdmin(team, role === "admin" ? 1 : -1),
        member: { kind: "update", key: keys.member(team, user), set: { role }, if: { role: { eq: before } } },
        role: replaceRole(team, user, before, role),
      });
    },

    /**
     * Removes a member and revokes keys in the same transaction.
     * @throws ConflictError naming only `count` where the team would have no admin left; other names where the membership
     * or a key list changed since it was read
     */
    async remove(team: string, member: Member, revocations: readonly Revocation[]): Promise<void> {
      const { user_uid: user, role, keys_created } = member;
      const isAdmin = role === "admin";
      const count = countMember(team, -1, isAdmin ? -1 : 0);
      await transact(table, {
        count: isAdmin ? { ...count, if: ANOTHER_ADMIN } : count,
        member: {
          kind: "delete",
          key: keys.member(team, user),
          if: { role: { eq: role }, keys_created: valueUnchanged(keys_created) },
        },
        role: removeRole(team, user),
        keys: revocations.flatMap(revokeKeys),
      });
    },
  };
}

const ANOTHER_ADMIN = { admins: { atLeast: 2 } } as const;

/**
 * Adds to the team's number of members, and of admins among them. A new member is refused where the team is full or is being
 * deleted.
 */
export const countMember = (team: string, members: 1 | -1, admins: 1 | 0 | -1 = 0): Update => ({
  kind: "update",
  key: keys.team(team),
  add: { members, admins },
  if: members === 1 ? { members: { below: MAX_MEMBERS }, closed: { exists: false } } : { pk: { exists: true } },
});

const countAdmin = (team: string, admins: 1 | -1): Update => ({
  kind: "update",
  key: keys.team(team),
  add: { admins },
  if: admins === 1 ? { pk: { exists: true } } : ANOTHER_ADMIN,
});

/** The writes that remove a member without counting, for a team that is being deleted. */
export const deleteMember = (team: string, user: string): TransactionWrite[] => [
  { kind: "delete", key: keys.member(team, user) },
  removeRole(team, user),
];
