import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Item, Key, Update } from "#shared/table/table.ts";

/** A web session ends when it was not used for this long. */
const IDLE_MS = 12 * 3_600_000;

/** The sign-in of one browser, as it is stored. The token itself is stored nowhere, only its hash. */
const WebSession = v.object({
  uid: v.string(),
  user_uid: v.string(),
  hash: v.string(),
  /** The hash of the API key that the person signed in with: without the key, the session is not valid either. */
  key_hash: v.exactOptional(v.string()),
  /** The team that its requests are most likely about, if there is one. */
  team_uid: v.exactOptional(v.string()),
  /** The browser and its system, such as `Firefox on Linux`. */
  browser: v.exactOptional(v.string()),
  created_at: v.number(),
  last_used_at: v.number(),
  /** The time at which it ends even if it is in use. */
  ends_at: v.number(),
});
export type WebSession = v.InferOutput<typeof WebSession>;

export const parseWebSession = (item: Item): WebSession => v.parse(WebSession, item);

export const webSessionKey = ({ user_uid, hash }: Pick<WebSession, "user_uid" | "hash">): Key =>
  keys.webSession(user_uid, hash);

/** The time in milliseconds at which a session ends unless it is used again. */
export const webSessionExpiry = ({ last_used_at, ends_at }: Pick<WebSession, "last_used_at" | "ends_at">): number =>
  Math.min(last_used_at + IDLE_MS, ends_at);

/** When the table deletes a session, in seconds. */
export const webSessionTimeToLive = (session: Pick<WebSession, "last_used_at" | "ends_at">): number =>
  Math.ceil(webSessionExpiry(session) / 1000);

/** Records the use of a session at `now`; fails if it was deleted in the meantime. */
export const touchWebSession = (session: WebSession, now: number): Update => ({
  kind: "update",
  key: webSessionKey(session),
  set: { last_used_at: now, expires_at: webSessionTimeToLive({ ...session, last_used_at: now }) },
  if: { pk: { exists: true } },
});
