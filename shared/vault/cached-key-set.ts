import type { KeySetStore } from "./key-set-store.ts";

/** Milliseconds for which a process uses keys that it has read. */
export const CACHED_MS = 5 * 60_000;

/** A set of keys, the newest last, which a process reads once in five minutes, however often it uses them. */
export interface CachedKeySet<Key> {
  /** The keys; none before the first is created. */
  list(): Promise<readonly Key[]>;
  /** The keys as they are stored now. */
  read(): Promise<readonly Key[]>;
  /** Stores the first key, unless another process has stored one. Returns the keys that are stored. */
  create(first: Key): Promise<readonly Key[]>;
  replace(keys: readonly Key[]): Promise<void>;
}

/** @param parse the counterpart of formatKeySet */
export function cachedKeySet<Key>(
  store: KeySetStore,
  parse: (content: string) => readonly Key[],
  now: () => number,
): CachedKeySet<Key> {
  let cache: { readonly keys: readonly Key[]; readonly until: number } | undefined;
  let reading: Promise<readonly Key[]> | undefined;
  const remember = (keys: readonly Key[]): readonly Key[] => {
    cache = { keys, until: now() + CACHED_MS };
    return keys;
  };
  const load = async (): Promise<readonly Key[]> => {
    const content = await store.read();
    return content === undefined ? [] : remember(parse(content));
  };
  const read = (): Promise<readonly Key[]> => {
    reading ??= load().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    read,
    list: async () => (cache !== undefined && cache.until > now() ? cache.keys : await read()),
    // Not with a read in progress, which may have begun before another process has created the set.
    create: async (first) => ((await store.create(formatKeySet([first]))) ? remember([first]) : await load()),
    async replace(keys) {
      await store.replace(formatKeySet(keys));
      remember(keys);
    },
  };
}

/** Formats the keys of a set, the newest last. */
export const formatKeySet = (keys: readonly unknown[]): string => JSON.stringify({ v: 1, keys });
