import { type FileRemoval, type FileStore, isInFolder } from "./file-store.ts";

/** Creates a file store in memory, for tests. Its URLs contain the key and cannot be opened. */
export function memoryFileStore(): FileStore & FileRemoval & { readonly files: Map<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>();
  return {
    files,
    async put(key, content) {
      if (!files.has(key)) files.set(key, Buffer.from(content));
    },
    async copy(from, to) {
      const file = files.get(from);
      if (file === undefined) throw new Error(`there is no file ${from}`);
      files.set(to, file);
    },
    get: async (key) => files.get(key),
    size: async (key) => files.get(key)?.length,
    async remove(key) {
      files.delete(key);
    },
    async removeAll(prefix, kept = []) {
      for (const key of files.keys()) if (key.startsWith(prefix) && !isInFolder(key, kept)) files.delete(key);
    },
    downloadUrl: async (key) => ({ url: `https://files.test/${key}`, expiresAt: 0 }),
    uploadTarget: async (key, { sizeBytes }) => ({
      url: `https://files.test/${key}`,
      method: "PUT",
      headers: { "content-length": String(sizeBytes) },
    }),
    uploadUrl: async (key) => ({ url: `https://files.test/${key}`, expiresAt: 0 }),
    uploadForm: async (key) => ({
      url: `https://files.test/${key}`,
      method: "POST",
      headers: null,
      fields: [
        { name: "key", value: { kind: "static", value: key } },
        { name: "file", value: { kind: "content_data" } },
      ],
    }),
  };
}
