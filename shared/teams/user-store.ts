import { userByEmailKey } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table, TransactionWrite } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/** Users by uid and by address. */
export function userStore(table: Table) {
  return {
    /**
     * Changes a user's name, also in the member lists of their teams.
     * @throws ConflictError if their memberships changed since they were read
     */
    async rename(user: string, teams: readonly string[], displayName: string): Promise<void> {
      const change = { set: { display_name: displayName }, if: { pk: { exists: true } } } as const;
      await transact(table, {
        user: { kind: "update", key: keys.user(user), ...change },
        members: teams.map((team): TransactionWrite => ({ kind: "update", key: keys.member(team, user), ...change })),
      });
    },
  };
}

/** Gives an address to a user; fails where another account has it. */
export const claimEmail = (email: string, user: string): Put => ({
  ...putEmail(email, user),
  if: { pk: { exists: false } },
});

/** Gives an address to a user, without a condition. */
export const putEmail = (email: string, user: string): Put => ({
  kind: "put",
  item: { ...userByEmailKey(email), v: 1, user_uid: user },
});
