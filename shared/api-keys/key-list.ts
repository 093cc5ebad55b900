import * as v from "valibot";
import { hashKey, newKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Key, Put, TransactionWrite } from "#shared/table/table.ts";
import { UserProfile } from "#shared/wire/run.ts";

/** Whose keys: a person's or an identity's. */
export type KeyOwner =
  | {
      readonly kind: "personal";
      readonly user: string;
      /** The team that calls with the key will most likely be about, if there is one. */
      readonly defaultTeam: string | undefined;
    }
  | { readonly kind: "agent"; readonly identity: string; readonly team: string };

const Entry = v.object({
  uid: v.string(),
  hash: v.string(),
  /** The person who created the key; keys from before creators were stored have none. */
  created_by: v.exactOptional(v.string()),
});
const Ring = v.object({ revision: v.number(), entries: v.array(Entry) });

/**
 * The keys of one holder by uid and hash. A key's own item is found by its hash alone; the ring is what lists them and
 * what takes them along when the holder goes: both in one transaction, at most 50.
 */
export type KeyList = v.InferOutput<typeof Ring>;

export const MAX_KEYS = 50;

export const keyListKey = (holder: KeyOwner): Key =>
  holder.kind === "personal" ? keys.userKeys(holder.user) : keys.identityKeys(holder.team, holder.identity);

export const parseKeyList = (item: Item | undefined): KeyList =>
  item === undefined ? { revision: 0, entries: [] } : v.parse(Ring, item);

/** The ring with other entries, under the condition that nobody changed it since it was read. */
export function toKeyListUpdate(holder: KeyOwner, ring: KeyList, entries: KeyList["entries"]): Put {
  const revision = ring.revision + 1;
  return {
    kind: "put",
    item: { ...keyListKey(holder), v: 1, revision, entries },
    if: ring.revision === 0 ? { pk: { exists: false } } : { revision: { eq: ring.revision } },
  };
}

/** The writes that remove a holder's ring and every key on it; no key can be made in between. */
export function toKeyListDelete(holder: KeyOwner, ring: KeyList): TransactionWrite[] {
  if (ring.revision === 0) return [{ kind: "check", key: keyListKey(holder), if: { pk: { exists: false } } }];
  return [
    { kind: "delete", key: keyListKey(holder), if: { revision: { eq: ring.revision } } },
    ...ring.entries.map(({ hash }): TransactionWrite => ({ kind: "delete", key: keys.apiKey(hash) })),
  ];
}

/** A key as it is stored: all but the key. */
export const StoredKey = v.object({
  uid: v.string(),
  name: v.string(),
  suffix: v.string(),
  created_at: v.number(),
  expires_at_ms: v.exactOptional(v.number()),
  last_used_at: v.exactOptional(v.number()),
  created_by: v.exactOptional(UserProfile),
});
export type StoredKey = v.InferOutput<typeof StoredKey>;

export interface NewKey {
  /** The key itself: shown once, stored nowhere. */
  readonly raw: string;
  readonly hash: string;
  readonly stored: StoredKey;
  readonly put: Put;
  /** What the key list has of it. */
  readonly entry: KeyList["entries"][number];
}

interface KeyFields {
  readonly uid: string;
  readonly name: string;
  readonly now: number;
  readonly expiresAt?: number | undefined;
  readonly createdBy: UserProfile | undefined;
}

/** A new key of the holder. */
export function makeKey(holder: KeyOwner, { uid, name, now, expiresAt, createdBy }: KeyFields): NewKey {
  const raw = newKey(holder.kind);
  const hash = hashKey(raw);
  const stored: StoredKey = {
    uid,
    name,
    suffix: raw.slice(-4),
    created_at: now,
    ...(expiresAt === undefined ? {} : { expires_at_ms: expiresAt }),
    ...(createdBy === undefined ? {} : { created_by: createdBy }),
  };
  return {
    raw,
    hash,
    stored,
    entry: { uid, hash, ...(createdBy === undefined ? {} : { created_by: createdBy.uid }) },
    put: {
      kind: "put",
      item: { ...keys.apiKey(hash), v: 1, ...opens(holder), ...stored },
      if: { pk: { exists: false } },
    },
  };
}

/** What the key's item says of whom it opens for. */
function opens(holder: KeyOwner): Record<string, string> {
  if (holder.kind === "agent") return { kind: "agent", identity_uid: holder.identity, team_uid: holder.team };
  return {
    kind: "personal",
    user_uid: holder.user,
    ...(holder.defaultTeam === undefined ? {} : { team_uid: holder.defaultTeam }),
  };
}
