import type { KeyRing } from "./key-ring.ts";

/** Creates a key ring in memory, for tests. */
export function memoryKeyRing(): KeyRing {
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
