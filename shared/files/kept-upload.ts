import type { FileStore } from "./file-store.ts";

/**
 * Copies the content of an upload form to a key without a form, since a form can be used again until it expires. A repeat keeps the
 * first copy.
 * @returns the key of the copy
 */
export async function keepFormUpload(file: string, files: Pick<FileStore, "size" | "copy">): Promise<string> {
  const copy = `${file}.kept`;
  if ((await files.size(copy)) === undefined) await files.copy(file, copy);
  return copy;
}
