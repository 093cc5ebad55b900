import { randomBytes } from "node:crypto";
import { type KeyOwner, makeKey, parseKeyList, toKeyListUpdate } from "#shared/api-keys/key-list.ts";
import { uuidv7 } from "#shared/ids.ts";
import { foldedEmail, newUser, toUserProfile } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table, TransactionWrite } from "#shared/table/table.ts";
import { newTeamWrites } from "./new-team.ts";

export interface Bootstrap {
  readonly teamName: string;
  readonly displayName: string;
  readonly email: string;
}
export interface BootstrapResult {
  readonly team_uid: string;
  readonly user_uid: string;
  /** The raw key, shown this once. */
  readonly api_key: string;
}

/** Creates a team, its first admin, a personal key for them, and the signing key of cursors if there is none. All or nothing. */
export async function bootstrap(table: Table, now: number, request: Bootstrap): Promise<BootstrapResult> {
  const team = { uid: uuidv7(now), name: request.teamName, created_at: now };
  const user = { uid: uuidv7(now), displayName: request.displayName, email: request.email };
  const holder: KeyOwner = { kind: "personal", user: user.uid, defaultTeam: team.uid };
  const createdBy = toUserProfile(user);
  const key = makeKey(holder, { uid: uuidv7(now), name: "first key", now, createdBy });
  const signing = keys.signing("1");
  const byEmail = keys.userByEmail(foldedEmail(user.email));
  const [signingItem, emailItem] = await table.batchGet([signing, byEmail]);
  const writes: TransactionWrite[] = [
    newUser(user, { [team.uid]: "admin" }, now),
    ...newTeamWrites(team, user),
    key.put,
    toKeyListUpdate(holder, parseKeyList(undefined), [key.entry]),
  ];
  if (signingItem === undefined) {
    const secret = randomBytes(32).toString("base64");
    writes.push({ kind: "put", item: { ...signing, v: 1, created_at: now, secret } });
  }
  // Where several people gave one address, it leads to the first of them.
  if (emailItem === undefined) writes.push({ kind: "put", item: { ...byEmail, v: 1, user_uid: user.uid } });
  await table.transact(writes);
  return { team_uid: team.uid, user_uid: user.uid, api_key: key.raw };
}
