import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { Role } from "#shared/wire/role.ts";

/** A member as the team's side of the membership tells. */
const Member = v.object({
  user_uid: v.string(),
  role: Role,
  email: v.string(),
  display_name: v.string(),
  created_at: v.number(),
  /** Agent keys that they have created since they joined; absent while there are none. */
  keys_created: v.exactOptional(v.number()),
});
export type Member = v.InferOutput<typeof Member>;

export const parseMember = (item: Item): Member => v.parse(Member, item);

/** All members of a team, by uid. */
export async function membersOf(team: string, table: Table): Promise<Member[]> {
  const { pk, sk: prefix } = keys.member(team, "");
  const { items } = await table.query({ pk, prefix });
  return items.map(parseMember);
}
