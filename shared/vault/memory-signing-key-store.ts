import type { SigningKeyStore } from "./signing-key-store.ts";

/** Creates a store of signing keys in memory, for tests. */
export function memorySigningKeyStore(): SigningKeyStore {
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
