import * as v from "valibot";
import { userByEmailKey } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table, TransactionWrite } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

const Account = v.object({ user_uid: v.string() });

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

    /**
     * Binds a person at an issuer to a user.
     * @throws ConflictError where either is bound already
     */
    async bind(subject: Subject, user: string): Promise<void> {
      await transact(table, { account: bindAccount(subject, user) });
    },
  };
}

/** The writes that bind a person at an issuer to a user, each of whom is bound once for an issuer. */
export const bindAccount = ({ issuer, sub }: Subject, user: string): TransactionWrite[] => [
  {
    kind: "put",
    item: { ...keys.oidcAccount(issuer, sub), v: 1, user_uid: user, issuer, sub },
    if: { pk: { exists: false } },
  },
  { kind: "put", item: { ...keys.accountOfUser(user, issuer), v: 1, issuer, sub }, if: { pk: { exists: false } } },
];
