import * as v from "valibot";
import { createdAtOf } from "#shared/ids.ts";
import { parseUser, userByEmailKey } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Table, TransactionWrite } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";

const Account = v.object({ user_uid: v.string() });
const Profile = v.object({ origin: v.exactOptional(v.string()), created_at: v.number() });

/** A person at an issuer, by the claims that identify them there. */
interface Subject {
  readonly issuer: string;
  readonly sub: string;
}

/** Which person at an issuer belongs to which user. */
export function oidcAccountStore(table: Table) {
  return {
    /** The user that a person at an issuer is bound to. */
    async findUser({ issuer, sub }: Subject): Promise<string | undefined> {
      const item = await table.get(keys.oidcAccount(issuer, sub));
      return item === undefined ? undefined : v.parse(Account, item).user_uid;
    },

    /** The user who has an address. */
    async findUserByEmail(email: string): Promise<string | undefined> {
      const item = await table.get(userByEmailKey(email));
      return item === undefined ? undefined : v.parse(Account, item).user_uid;
    },

    /** Whether it is known that a user's address is theirs; undefined where there is no such user. */
    async hasProvenAddress(user: string): Promise<boolean | undefined> {
      const profile = await table.get(keys.user(user));
      if (profile === undefined) return undefined;
      if (!isInvited(profile)) return true;
      const { pk } = keys.accountOfUser(user, "");
      return (await table.query({ pk, prefix: "OIDC#", limit: 1 })).items.length > 0;
    },

    /**
     * Binds a person at an issuer to a user, together with the writes `ended`.
     * @throws ConflictError naming `subject` or `user` where either is bound already, and `ended`
     */
    async bind(subject: Subject, user: string, ended: readonly TransactionWrite[]): Promise<void> {
      await transact(table, { ...bindAccount(subject, user), ended });
    },
  };
}

/**
 * Whether an account was created through an invitation. Those from before that was stored were not if one of their teams was
 * created together with them.
 */
function isInvited(profile: Item): boolean {
  const { origin, created_at } = v.parse(Profile, profile);
  if (origin !== undefined) return origin === "invitation";
  return !parseUser(profile).teams.some(({ uid }) => createdAtOf(uid) === created_at);
}

/** The writes that bind a person at an issuer to a user, each of whom is bound once for an issuer. */
export const bindAccount = ({ issuer, sub }: Subject, user: string) =>
  ({
    subject: {
      kind: "put",
      item: { ...keys.oidcAccount(issuer, sub), v: 1, user_uid: user, issuer, sub },
      if: { pk: { exists: false } },
    },
    user: {
      kind: "put",
      item: { ...keys.accountOfUser(user, issuer), v: 1, issuer, sub },
      if: { pk: { exists: false } },
    },
  }) as const satisfies NamedWrites;
