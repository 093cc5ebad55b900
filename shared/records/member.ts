import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Check, Item, Put, Table, Update } from "#shared/table/table.ts";
import { Role } from "#shared/wire/role.ts";

/** A member of a team; the user's item has the role as well. */
const Member = v.object({
  user_uid: v.string(),
  role: Role,
  email: v.string(),
  display_name: v.string(),
  created_at: v.number(),
  /** Number of agent keys that they have created since they joined; absent while there are none. */
  keys_created: v.exactOptional(v.number()),
});
export type Member = v.InferOutput<typeof Member>;

export const parseMember = (item: Item): Member => v.parse(Member, item);

/** All members of a team, by uid. */
export async function listMembers(team: string, table: Table): Promise<Member[]> {
  const { pk, sk: prefix } = keys.member(team, "");
  const { items } = await table.query({ pk, prefix });
  return items.map(parseMember);
}

/** A person as member lists show them. */
export interface Person {
  readonly uid: string;
  readonly displayName: string;
  readonly email: string;
}

export const putMember = (team: string, person: Person, role: Role, now: number): Put => ({
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

/** Counts a key that a member creates for an identity; fails where they are no longer a member. */
export const countCreatedKey = (team: string, user: string): Update => ({
  kind: "update",
  key: keys.member(team, user),
  add: { keys_created: 1 },
  if: { pk: { exists: true } },
});

/** Fails where the person is not a member of the team any more. */
export const checkMember = (team: string, user: string): Check => ({
  kind: "check",
  key: keys.member(team, user),
  if: { pk: { exists: true } },
});

export const checkAdmin = (team: string, user: string): Check => ({
  kind: "check",
  key: keys.member(team, user),
  if: { role: { eq: "admin" } },
});
