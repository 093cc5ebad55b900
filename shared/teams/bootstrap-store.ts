import type { KeyOwner } from "#shared/keys/key-owner.ts";
import { type NewKey, putFirstKey } from "#shared/keys/key-store.ts";
import type { Person } from "#shared/records/member.ts";
import type { Team } from "#shared/records/team.ts";
import { putUser, userByEmailKey } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { putTeam } from "./team-store.ts";
import { putEmail } from "./user-store.ts";

interface FirstTeam {
  readonly team: Team;
  readonly admin: Person;
  readonly owner: KeyOwner;
  readonly key: NewKey;
  /** The secret that signs cursors, stored only if there is none yet. */
  readonly signingSecret: string;
}

/** Stores a team with its first admin, their key, and the signing key of cursors if there is none. All or nothing. */
export async function storeFirstTeam(
  { team, admin, owner, key, signingSecret }: FirstTeam,
  table: Pick<Table, "batchGet" | "transact">,
): Promise<void> {
  const now = team.created_at;
  const signing = keys.signing("1");
  const [signingItem, emailItem] = await table.batchGet([signing, userByEmailKey(admin.email)]);
  const signingKey: Put = { kind: "put", item: { ...signing, v: 1, created_at: now, secret: signingSecret } };
  await transact(table, {
    user: putUser(admin, { [team.uid]: "admin" }, now, "bootstrap"),
    ...putTeam(team, admin),
    key: putFirstKey(owner, key),
    signingKey: signingItem === undefined ? signingKey : undefined,
    // Where several people gave one address, it belongs to the first of them.
    email: emailItem === undefined ? putEmail(admin.email, admin.uid) : undefined,
  });
}
