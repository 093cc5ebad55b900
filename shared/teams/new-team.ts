import { defaultIdentity } from "#shared/identities/identity-writes.ts";
import { uuidv7 } from "#shared/ids.ts";
import { newRegister } from "#shared/records/identity-register.ts";
import type { Team } from "#shared/records/team.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, TransactionWrite, Update, Value } from "#shared/table/table.ts";
import type { Role } from "#shared/wire/role.ts";

/** A person as member lists show them. */
export interface Person {
  readonly uid: string;
  readonly displayName: string;
  readonly email: string;
}

/** The writes of a new team with its first admin; their own item, which tells the membership as well, is the caller's. */
export function newTeamWrites(team: Team, admin: Person): TransactionWrite[] {
  const now = team.created_at;
  // Ids sort by their millisecond, and the default identity is the oldest even where others come in the same one.
  const first = uuidv7(now - 1);
  return [
    {
      kind: "put",
      item: { ...keys.team(team.uid), v: 1, admins: 1, members: 1, ...team },
      if: { pk: { exists: false } },
    },
    newMember(team.uid, admin, "admin", now),
    newRegister(team.uid, first, now, team.identity_limit),
    ...defaultIdentity(team.uid, first, now),
    ...limitWrites(team),
  ];
}

/** The team's side of a membership, with what lists show of the person. */
export const newMember = (team: string, person: Person, role: Role, now: number): Put => ({
  kind: "put",
  item: {
    ...keys.member(team, person.uid),
    v: 1,
    user_uid: person.uid,
    role,
    email: person.email,
    display_name: person.displayName,
    created_at: now,
  },
  if: { pk: { exists: false } },
});

/** Members of one team: a list of them is read whole, and the team's deletion takes them out one by one. */
export const MAX_MEMBERS = 1000;

/**
 * The team's number of members, and of admins among them, moves with its members; fails where it has as many as it may, or is
 * being deleted.
 */
export const countMember = (team: string, members: 1 | -1, admins: 1 | 0 | -1 = 0): Update => ({
  kind: "update",
  key: keys.team(team),
  add: { members, admins },
  if: members > 0 ? { members: { below: MAX_MEMBERS }, closed: { exists: false } } : { pk: { exists: true } },
});

/** The limits that the counters of runs are compared with lie on the counters' own item. */
function limitWrites({ uid, concurrency_limit, queue_limit }: Team): TransactionWrite[] {
  const limits: Record<string, Value> = {
    ...(concurrency_limit === undefined ? {} : { concurrency_limit }),
    ...(queue_limit === undefined ? {} : { queue_limit }),
  };
  if (Object.keys(limits).length === 0) return [];
  return [{ kind: "update", key: keys.counters({ type: "Team", uid }), set: limits }];
}
