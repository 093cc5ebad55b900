import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
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

/** Milliseconds for which a process uses keys that it has read. */
export const CACHED_MS = 5 * 60_000;
const KEY_BYTES = 32;

const StoredKey = v.object({ id: v.string(), created_at: v.number(), key: v.string() });
export type StoredKey = v.InferOutput<typeof StoredKey>;
const StoredKeys = v.pipe(v.string(), v.parseJson(), v.object({ v: v.literal(1), keys: v.array(StoredKey) }));

/** The keys of a set, the newest last. */
export const parseKeySet = (content: string): StoredKey[] => v.parse(StoredKeys, content).keys;
export const formatKeySet = (keys: readonly StoredKey[]): string => JSON.stringify({ v: 1, keys });

export const decodeKey = ({ id, key }: StoredKey): VaultKey => ({ id, key: Buffer.from(key, "base64") });

export const makeStoredKey = (now: number): StoredKey => ({
  id: randomBytes(6).toString("hex"),
  created_at: now,
  key: randomBytes(KEY_BYTES).toString("base64"),
});

/** The keys of a set. A process reads it once in five minutes, however many values it encrypts and decrypts. */
export function createVaultKeys(store: KeySetStore, now: () => number): VaultKeys {
  let cache: { readonly keys: readonly VaultKey[]; readonly until: number } | undefined;
  let reading: Promise<readonly VaultKey[]> | undefined;
  const remember = (keys: readonly StoredKey[]): readonly VaultKey[] => {
    const decoded = keys.map(decodeKey);
    cache = { keys: decoded, until: now() + CACHED_MS };
    return decoded;
  };
  const load = async (): Promise<readonly VaultKey[]> => {
    const content = await store.read();
    return content === undefined ? [] : remember(parseKeySet(content));
  };
  const read = (): Promise<readonly VaultKey[]> => {
    reading ??= load().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const readCached = async (): Promise<readonly VaultKey[]> =>
    cache !== undefined && cache.until > now() ? cache.keys : await read();
  const makeFirst = async (): Promise<readonly VaultKey[]> => {
    const first = makeStoredKey(now());
    // Of several processes, one creates the set, and the others read it.
    return (await store.create(formatKeySet([first]))) ? remember([first]) : await read();
  };
  return {
    async current() {
      const found = await readCached();
      const newest = (found.length === 0 ? await makeFirst() : found).at(-1);
      if (newest === undefined) throw keyMissing("its newest key");
      return newest;
    },
    async find(id) {
      const isKnown = (key: VaultKey) => key.id === id;
      // A key that is not cached may be newer than the cache.
      const key = (await readCached()).find(isKnown) ?? (await read()).find(isKnown);
      if (key === undefined) throw keyMissing(`the key ${id}`);
      return key;
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
