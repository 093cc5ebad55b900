import * as v from "valibot";
import { checkIdentityExists } from "#shared/records/identity.ts";
import { countCreatedKey } from "#shared/records/member.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Key, Put, Table, TransactionWrite, Update } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { Scope } from "#shared/wire/keys/scope.ts";
import { UserProfile } from "#shared/wire/run.ts";
import type { KeyOwner } from "./key-owner.ts";

const Entry = v.object({
  uid: v.string(),
  hash: v.string(),
  /** The person who created the key; keys from before creators were stored have none. */
  created_by: v.exactOptional(v.string()),
});
export type KeyEntry = v.InferOutput<typeof Entry>;

const KeyListItem = v.object({ revision: v.number(), entries: v.array(Entry) });

/**
 * The keys of one owner by uid and hash. A key's own item is found only by its hash; the list shows an owner's keys,
 * and lets one transaction delete all of them together with the owner.
 */
export type KeyList = v.InferOutput<typeof KeyListItem>;

/** A key as it is stored: everything but the key itself. */
const StoredKey = v.object({
  uid: v.string(),
  name: v.string(),
  suffix: v.string(),
  created_at: v.number(),
  expires_at_ms: v.exactOptional(v.number()),
  /** Absent where the key has all scopes. */
  scopes: v.exactOptional(v.array(Scope)),
  /** What its runs may cost in a month, and how many it may create in a day; absent where that is not limited. */
  budget_usd_month: v.exactOptional(v.number()),
  runs_per_day: v.exactOptional(v.number()),
  last_used_at: v.exactOptional(v.number()),
  created_by: v.exactOptional(UserProfile),
});
export type StoredKey = v.InferOutput<typeof StoredKey>;

export interface NewKey {
  /** The key itself: shown once, stored nowhere. */
  readonly raw: string;
  readonly hash: string;
  readonly stored: StoredKey;
}

/** Keys of one owner to be revoked, with the key list that they were read from. */
export interface Revocation {
  readonly owner: KeyOwner;
  readonly list: KeyList;
  readonly entries: readonly KeyEntry[];
}

/** API keys and the key lists of their owners. */
export function keyStore(table: Table) {
  return {
    /** The key list of an owner; empty where there never was a key. */
    async readList(owner: KeyOwner): Promise<KeyList> {
      return parseKeyList(await table.get(keyListKey(owner)));
    },

    /** The key lists of all identities of a team, by identity. */
    async readLists(team: string): Promise<{ readonly identity: string; readonly list: KeyList }[]> {
      const { pk, sk: prefix } = keys.identityKeys(team, "");
      const { items } = await table.query({ pk, prefix });
      return items.map((item) => ({ identity: item.sk.slice(prefix.length), list: parseKeyList(item) }));
    },

    /** The stored keys of list entries by hash; a key that was deleted meanwhile is missing. */
    async readKeys(entries: readonly KeyEntry[]): Promise<ReadonlyMap<string, StoredKey>> {
      const items = await batchGetAll(
        entries.map(({ hash }) => keys.apiKey(hash)),
        table,
      );
      return new Map(
        entries.flatMap(({ hash }, index) => {
          const item = items[index];
          return item === undefined ? [] : [[hash, v.parse(StoredKey, item)] as const];
        }),
      );
    },

    /** Whether the key with this hash is stored, also if it has expired. */
    async has(hash: string): Promise<boolean> {
      return (await table.get(keys.apiKey(hash))) !== undefined;
    },

    /**
     * Adds a key to an owner's list. `creator` is the person who creates it.
     * @throws ConflictError naming `list` where it changed since it was read, `idempotency`, `owner` where the identity is
     * deleted or the creator was removed from the team, and `rateLimit`
     */
    async add(
      owner: KeyOwner,
      list: KeyList,
      key: NewKey,
      { idempotency, creator, rateLimit }: { idempotency: Put; creator: string; rateLimit: Update },
    ): Promise<void> {
      await transact(table, {
        list: updateKeyList(owner, list, [...list.entries, toEntry(key)]),
        idempotency,
        key: putKey(owner, key),
        owner: checkOwner(owner, creator),
        rateLimit,
      });
    },

    /**
     * Adds a key to an owner's list without a rate limit and without an idempotency record.
     * @throws ConflictError if the list changed since it was read
     */
    async addUncounted(owner: KeyOwner, list: KeyList, key: NewKey): Promise<void> {
      await transact(table, {
        list: updateKeyList(owner, list, [...list.entries, toEntry(key)]),
        key: putKey(owner, key),
      });
    },

    /**
     * Revokes keys of one owner.
     * @throws ConflictError if the list changed since it was read
     */
    async revoke(revocation: Revocation): Promise<void> {
      await transact(table, { keys: revokeKeys(revocation) });
    },
  };
}

const keyListKey = (owner: KeyOwner): Key =>
  owner.kind === "personal" ? keys.userKeys(owner.user) : keys.identityKeys(owner.team, owner.identity);

const parseKeyList = (item: Item | undefined): KeyList =>
  item === undefined ? { revision: 0, entries: [] } : v.parse(KeyListItem, item);

const toEntry = ({ hash, stored: { uid, created_by } }: NewKey): KeyEntry => ({
  uid,
  hash,
  ...(created_by === undefined ? {} : { created_by: created_by.uid }),
});

/** The writes of an owner's first key and key list. */
export const putFirstKey = (owner: KeyOwner, key: NewKey): TransactionWrite[] => [
  putKey(owner, key),
  updateKeyList(owner, parseKeyList(undefined), [toEntry(key)]),
];

/** The writes that revoke keys of one owner, under the condition that the key list is unchanged. */
export const revokeKeys = ({ owner, list, entries }: Revocation): TransactionWrite[] => [
  updateKeyList(
    owner,
    list,
    list.entries.filter((entry) => !entries.includes(entry)),
  ),
  ...entries.map(deleteKey),
];

/** The writes that delete an owner's key list with every key on it, under the condition that the list is unchanged. */
export function deleteAllKeys(owner: KeyOwner, list: KeyList): TransactionWrite[] {
  const key = keyListKey(owner);
  if (list.revision === 0) return [{ kind: "check", key, if: { pk: { exists: false } } }];
  return [{ kind: "delete", key, if: { revision: { eq: list.revision } } }, ...list.entries.map(deleteKey)];
}

const deleteKey = ({ hash }: KeyEntry): TransactionWrite => ({ kind: "delete", key: keys.apiKey(hash) });

/** Replaces the entries of a list, under the condition that it is unchanged since it was read. */
function updateKeyList(owner: KeyOwner, before: KeyList, entries: readonly KeyEntry[]): Put {
  const revision = before.revision + 1;
  return {
    kind: "put",
    item: { ...keyListKey(owner), v: 1, revision, entries },
    if: before.revision === 0 ? { pk: { exists: false } } : { revision: { eq: before.revision } },
  };
}

const putKey = (owner: KeyOwner, { hash, stored }: NewKey): Put => ({
  kind: "put",
  item: { ...keys.apiKey(hash), v: 1, ...toOwnerAttributes(owner), ...stored },
  if: { pk: { exists: false } },
});

/** The attributes of a key's item from which the principal is found. */
function toOwnerAttributes(owner: KeyOwner): Record<string, string> {
  if (owner.kind === "agent") return { kind: "agent", identity_uid: owner.identity, team_uid: owner.team };
  return {
    kind: "personal",
    user_uid: owner.user,
    ...(owner.defaultTeam === undefined ? {} : { team_uid: owner.defaultTeam }),
  };
}

/**
 * An identity that is deleted meanwhile gets no more keys, and a person who is removed from the team creates none. The count
 * lets the removal of a member notice a key that they create at the same moment.
 */
function checkOwner(owner: KeyOwner, creator: string): TransactionWrite[] {
  if (owner.kind === "personal") return [];
  return [checkIdentityExists(owner.team, owner.identity), countCreatedKey(owner.team, creator)];
}
