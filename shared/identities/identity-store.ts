import { toIdentityKeyOwner } from "#shared/keys/key-owner.ts";
import { deleteAllKeys, keyStore } from "#shared/keys/key-store.ts";
import { type Identity, parseIdentity, readIdentity } from "#shared/records/identity.ts";
import { parseAvailable, register, unregister } from "#shared/records/identity-register.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { keys, teamPk } from "#shared/table/keys.ts";
import type { Put, Table, Value } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { changeNamed, claimName, releaseName } from "#shared/table/unique-name.ts";
import { deleteTrustRules, trustRuleStore } from "./trust-rule-store.ts";

const NAME_KIND = "identity";
const DEFAULT_NAME = "Default agent";

export interface FoundIdentity {
  readonly identity: Identity;
  /** Whether it is within its team's plan limit. */
  readonly available: boolean;
}

/** Attributes to set in an identity, and attributes to clear. */
export interface IdentityChange {
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
}

/** The identities of teams, their names and the register that enforces the plan's limit. */
export function identityStore(table: Table) {
  return {
    /** The identity in the first of the teams that has it. */
    async find(teams: readonly string[], uid: string): Promise<FoundIdentity | undefined> {
      const items = await table.batchGet(teams.flatMap((team) => [keys.identities(team), keys.identity(team, uid)]));
      for (const index of teams.keys()) {
        const item = items[2 * index + 1];
        if (item === undefined) continue;
        return { identity: parseIdentity(item), available: parseAvailable(items[2 * index]).has(uid) };
      }
      return undefined;
    },

    get: (team: string, uid: string): Promise<Identity | undefined> => readIdentity(team, uid, table),

    /** All identities of a team, read with the register in one query. */
    async list(team: string): Promise<FoundIdentity[]> {
      const registerKey = keys.identities(team);
      const range = { from: registerKey.sk, to: keys.identity(team, "\u{10ffff}").sk };
      const { items } = await table.query({ pk: teamPk(team), ...range });
      const available = parseAvailable(items.find(({ sk }) => sk === registerKey.sk));
      return items
        .filter(({ sk }) => sk !== registerKey.sk)
        .map(parseIdentity)
        .map((identity) => ({ identity, available: available.has(identity.uid) }));
    },

    /**
     * Creates an identity with the idempotency record of its request.
     * @throws ConflictError naming `limit` where the plan allows no more, `name` where another identity has the name, and
     * `idempotency`
     */
    async create(identity: Identity, idempotency: Put): Promise<void> {
      const { team_uid: team, uid, created_at } = identity;
      const writes = {
        limit: register(team, uid, created_at),
        name: claimIdentityName(identity),
        identity: putItem(identity),
        idempotency,
      };
      await transactInScope({ type: "Team", uid: team }, writes, table);
    },

    /**
     * Changes an identity and its name. False where it was renamed or deleted since it was read. Throws `taken` where another
     * identity has the name.
     */
    async update(
      { team_uid: team, uid, name: before }: Identity,
      name: string,
      change: IdentityChange,
      taken: () => Error,
    ): Promise<void> {
      const named = { owner: { type: "Team", uid: team }, kind: NAME_KIND, uid, name: before } as const;
      return changeNamed(named, name, { key: keys.identity(team, uid), ...change }, taken, table);
    },

    /**
     * Deletes an identity with all of its keys and trust rules.
     * @throws ConflictError if it, its name or its keys changed meanwhile
     */
    async delete(identity: Identity): Promise<void> {
      const { uid, team_uid: team, name } = identity;
      const owner = toIdentityKeyOwner(identity);
      const [list, rules] = await Promise.all([keyStore(table).readList(owner), trustRuleStore(table).list(team, uid)]);
      await transact(table, {
        identity: { kind: "delete", key: keys.identity(team, uid), if: { name: { eq: name } } },
        register: unregister(team, uid),
        name: releaseName({ type: "Team", uid: team }, NAME_KIND, name, uid),
        keys: deleteAllKeys(owner, list),
        rules: deleteTrustRules(rules),
      });
    },
  };
}

/** The writes of the identity that every team is created with. */
export const putDefaultIdentity = (team: string, uid: string, now: number): Put[] =>
  putIdentity({ uid, team_uid: team, name: DEFAULT_NAME, created_at: now, updated_at: now, is_default: true });

/** The writes of an identity and its name, without the register. */
export const putIdentity = (identity: Identity): Put[] => [putItem(identity), claimIdentityName(identity)];

const putItem = (identity: Identity): Put => ({
  kind: "put",
  item: { ...keys.identity(identity.team_uid, identity.uid), v: 1, ...identity },
  if: { pk: { exists: false } },
});

const claimIdentityName = ({ team_uid, name, uid }: Identity): Put =>
  claimName({ type: "Team", uid: team_uid }, NAME_KIND, name, uid);
