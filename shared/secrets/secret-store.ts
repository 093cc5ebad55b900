import * as v from "valibot";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Table } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/** A secret's name as it is stored; the value is in the vault, under an id that no other value ever has. */
const Secret = v.object({
  team_uid: v.string(),
  name: v.string(),
  id: v.string(),
  created_at: v.number(),
  /** How the value is renewed, in JSON: few readers need it. */
  renewal: v.exactOptional(v.string()),
  /** How often the value was renewed. */
  renewals: v.exactOptional(v.number()),
});
export type Secret = v.InferOutput<typeof Secret>;

export const parseSecret = (item: Item): Secret => v.parse(Secret, item);

/** Whether an item is a secret's name. */
export const isSecret = ({ pk, sk }: Item): boolean => {
  const key = keys.secret("", "");
  return pk.startsWith(key.pk) && sk.startsWith(key.sk);
};

/** Names of secrets. */
export function secretStore(table: Table) {
  return {
    /** The secrets of teams, by name in each team. */
    async list(teams: readonly string[]): Promise<Secret[]> {
      const pages = await Promise.all(
        teams.map((team) => {
          const { pk, sk: prefix } = keys.secret(team, "");
          return table.query({ pk, prefix });
        }),
      );
      return pages.flatMap(({ items }) => items.map(parseSecret));
    },

    /** The secrets of one name that teams have. */
    async getOfTeams(teams: readonly string[], name: string): Promise<Secret[]> {
      const items = teams.length === 0 ? [] : await table.batchGet(teams.map((team) => keys.secret(team, name)));
      return items.filter((item) => item !== undefined).map(parseSecret);
    },

    /** The secrets of these names that a team has. */
    async getMany(team: string, names: readonly string[]): Promise<Secret[]> {
      const items = names.length === 0 ? [] : await table.batchGet(names.map((name) => keys.secret(team, name)));
      return items.filter((item) => item !== undefined).map(parseSecret);
    },

    /**
     * Stores a name with the idempotency record of its request.
     * @throws ConflictError naming `idempotency`, and `secret` where the name is taken
     */
    async create(secret: Secret, idempotency: Put): Promise<void> {
      const item = { ...keys.secret(secret.team_uid, secret.name), v: 1, ...secret };
      const writes = { idempotency, secret: { kind: "put", item, if: { pk: { exists: false } } } } as const;
      await transactInScope({ type: "Team", uid: secret.team_uid }, writes, table);
    },

    /** Whether this secret is stored, and not another of the same name. */
    async has({ team_uid, name, id }: Secret): Promise<boolean> {
      const item = await table.get(keys.secret(team_uid, name));
      return item !== undefined && parseSecret(item).id === id;
    },

    /**
     * Deletes a name in a transaction, whose repeat after a lost response has no effect and does not fail.
     * @throws ConflictError if it was deleted, or replaced by another of the same name, since it was read
     */
    async delete({ team_uid, name, id }: Secret): Promise<void> {
      await transact(table, { secret: { kind: "delete", key: keys.secret(team_uid, name), if: { id: { eq: id } } } });
    },
  };
}
