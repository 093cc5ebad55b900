import { randomBytes } from "node:crypto";
import { uuidv7 } from "#shared/ids.ts";
import { generateKey } from "#shared/keys/generate-key.ts";
import type { KeyOwner } from "#shared/keys/key-owner.ts";
import { toUserProfile } from "#shared/records/user.ts";
import type { Table } from "#shared/table/table.ts";
import { storeFirstTeam } from "./bootstrap-store.ts";

export interface Bootstrap {
  readonly teamName: string;
  readonly displayName: string;
  readonly email: string;
}
export interface BootstrapResult {
  readonly team_uid: string;
  readonly user_uid: string;
  /** The key itself, shown only here. */
  readonly api_key: string;
}

/** Creates a team, its first admin, a personal key for them, and the signing key of cursors if there is none. All or nothing. */
export async function bootstrap(table: Table, now: number, request: Bootstrap): Promise<BootstrapResult> {
  const team = { uid: uuidv7(now), name: request.teamName, created_at: now };
  const admin = { uid: uuidv7(now), displayName: request.displayName, email: request.email };
  const owner: KeyOwner = { kind: "personal", user: admin.uid, defaultTeam: team.uid };
  const key = generateKey(owner, { uid: uuidv7(now), name: "first key", now, createdBy: toUserProfile(admin) });
  await storeFirstTeam({ team, admin, owner, key, signingSecret: randomBytes(32).toString("base64") }, table);
  return { team_uid: team.uid, user_uid: admin.uid, api_key: key.raw };
}
