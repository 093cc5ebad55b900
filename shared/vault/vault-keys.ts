import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { cachedKeySet } from "./cached-key-set.ts";
import type { KeySetStore } from "./key-set-store.ts";

/** A key that encrypts values of the vault. */
export interface VaultKey {
  /** Stored with each value that it has encrypted. */
  readonly id: string;
  readonly key: Uint8Array;
}

/** The keys of a vault: the newest encrypts, and former ones decrypt what they have encrypted. */
export interface VaultKeys {
  /** The newest key, which is made at its first use. */
  current(): Promise<VaultKey>;
  /** The key with an id. @throws RunyardError if the vault does not have it */
  find(id: string): Promise<VaultKey>;
}

const KEY_BYTES = 32;

const StoredKey = v.object({ id: v.string(), created_at: v.number(), key: v.string() });
export type StoredKey = v.InferOutput<typeof StoredKey>;
const StoredKeys = v.pipe(v.string(), v.parseJson(), v.object({ v: v.literal(1), keys: v.array(StoredKey) }));

/** The keys of a set, the newest last. */
export const parseKeySet = (content: string): StoredKey[] => v.parse(StoredKeys, content).keys;

export const decodeKey = ({ id, key }: StoredKey): VaultKey => ({ id, key: Buffer.from(key, "base64") });

export const makeStoredKey = (now: number): StoredKey => ({
  id: randomBytes(6).toString("hex"),
  created_at: now,
  key: randomBytes(KEY_BYTES).toString("base64"),
});

/** The keys of a stored set. */
export function createVaultKeys(store: KeySetStore, now: () => number): VaultKeys {
  const keySet = cachedKeySet(store, parseKeySet, now);
  return {
    async current() {
      const found = await keySet.list();
      const newest = (found.length === 0 ? await keySet.create(makeStoredKey(now())) : found).at(-1);
      if (newest === undefined) throw keyMissing("its newest key");
      return decodeKey(newest);
    },
    async find(id) {
      const isKnown = (key: StoredKey) => key.id === id;
      // A key that is not cached may be newer than the cache.
      const key = (await keySet.list()).find(isKnown) ?? (await keySet.read()).find(isKnown);
      if (key === undefined) throw keyMissing(`the key ${id}`);
      return decodeKey(key);
    },
  };
}

/** Keys that are in memory already. */
export const fixedVaultKeys = (current: VaultKey): VaultKeys => ({
  current: async () => current,
  async find(id) {
    if (id !== current.id) throw keyMissing(`the key ${id}`);
    return current;
  },
});

const keyMissing = (what: string) =>
  new RunyardError("resource_unavailable", {
    detail: `a secret cannot be read, because the vault does not have ${what}: the operator has to restore the vault's keys, or the secret has to be created again`,
    retryable: false,
  });
