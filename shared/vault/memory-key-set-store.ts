import type { KeySetStore } from "./key-set-store.ts";

/** Creates a store of a set of keys in memory, for tests. */
export function memoryKeySetStore(): KeySetStore {
  let content: string | undefined;
  return {
    read: async () => content,
    async create(first) {
      if (content !== undefined) return false;
      content = first;
      return true;
    },
    async replace(next) {
      content = next;
    },
  };
}
