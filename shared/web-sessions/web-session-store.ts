import * as v from "valibot";
import { splitIntoBatches } from "#shared/arrays.ts";
import { parseUser, type User } from "#shared/records/user.ts";
import { parseWebSession, type WebSession, webSessionKey, webSessionTimeToLive } from "#shared/records/web-session.ts";
import { keys } from "#shared/table/keys.ts";
import type { Delete, Table, Update } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/** A one-time token to sign in, as it is stored: by its hash. */
const SignIn = v.object({
  user_uid: v.string(),
  team_uid: v.exactOptional(v.string()),
  /** The API key that the link was created with. Sessions that the link starts end with that key. */
  key_hash: v.exactOptional(v.string()),
  expires_at_ms: v.number(),
});
export type SignIn = v.InferOutput<typeof SignIn>;

/** Sessions that one transaction deletes. */
const BATCH = 90;

interface NewSession {
  readonly session: WebSession;
  readonly rateLimit: Update;
  /** The hash of the one-time token that the session is started with. */
  readonly signIn?: string | undefined;
  /** Sessions that the new one replaces. */
  readonly replaced: readonly SessionId[];
}

/** What identifies a stored session. */
export type SessionId = Pick<WebSession, "user_uid" | "hash">;

/** Web sessions, and the one-time tokens that start them. */
export function webSessionStore(table: Table) {
  return {
    async readUser(uid: string): Promise<User | undefined> {
      const item = await table.get(keys.user(uid));
      return item === undefined ? undefined : parseUser(item);
    },

    /** The stored sessions of a person, also those that have ended and are not deleted yet. */
    async list(userUid: string): Promise<WebSession[]> {
      const { pk, sk: prefix } = keys.webSession(userUid, "");
      const { items } = await table.query({ pk, prefix });
      return items.map(parseWebSession);
    },

    /**
     * Stores a new session and uses up the token that it is started with.
     * @throws ConflictError naming `rateLimit`, and `signIn` where the token was used meanwhile
     */
    async create({ session, rateLimit, signIn, replaced }: NewSession): Promise<void> {
      await transact(table, {
        rateLimit,
        signIn:
          signIn === undefined ? undefined : { kind: "delete", key: keys.signIn(signIn), if: { pk: { exists: true } } },
        session: {
          kind: "put",
          item: { ...webSessionKey(session), v: 1, ...session, expires_at: webSessionTimeToLive(session) },
        },
        replaced: replaced.map(deleteSession),
      });
    },

    async delete(sessions: readonly SessionId[]): Promise<void> {
      for (const batch of splitIntoBatches(sessions, BATCH)) {
        await transact(table, { sessions: batch.map(deleteSession) });
      }
    },

    /**
     * Deletes one session.
     * @throws ConflictError if it was deleted meanwhile
     */
    async deleteOne(session: SessionId): Promise<void> {
      await transact(table, { session: { ...deleteSession(session), if: { pk: { exists: true } } } });
    },

    async readSignIn(hash: string): Promise<SignIn | undefined> {
      const item = await table.get(keys.signIn(hash));
      return item === undefined ? undefined : v.parse(SignIn, item);
    },

    /**
     * Stores a one-time token.
     * @throws ConflictError naming `rateLimit`
     */
    async createSignIn(hash: string, signIn: SignIn, rateLimit: Update | undefined): Promise<void> {
      const item = { ...keys.signIn(hash), v: 1, ...signIn, expires_at: Math.ceil(signIn.expires_at_ms / 1000) };
      await transact(table, { rateLimit, signIn: { kind: "put", item } });
    },
  };
}

export const deleteSession = (session: SessionId): Delete => ({ kind: "delete", key: webSessionKey(session) });
