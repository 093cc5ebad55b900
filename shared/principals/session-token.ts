import { randomBytes } from "node:crypto";
import { sha256 } from "#shared/ids.ts";

const RANDOM_BYTES = 32;

/** A well-formed session token. Whether its session is valid is decided by the table. */
export interface ParsedSessionToken {
  readonly user_uid: string;
  readonly hash: string;
}

/** A new token: the person's uid, so that one read finds the session among theirs, and 256 random bits. */
export const newSessionToken = (userUid: string): string =>
  `rys_${userUid}_${randomBytes(RANDOM_BYTES).toString("base64url")}`;

/** Undefined where the form is wrong, which saves a read. */
export function parseSessionToken(token: string): ParsedSessionToken | undefined {
  const [, userUid] = /^rys_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[\w-]{43}$/.exec(token) ?? [];
  return userUid === undefined ? undefined : { user_uid: userUid, hash: sha256(token) };
}
