import type { KeyRingStore } from "./key-ring-store.ts";

/** Creates a store of a ring of keys in memory, for tests. */
export function memoryKeyRingStore(): KeyRingStore {
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
