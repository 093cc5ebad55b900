import { closeSync, openSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { backup, DatabaseSync } from "node:sqlite";

/** Larger than the number of pages of any database. */
const MAX_PAGES = 0x7fffffff;

/** Copies a database that another process may be using. Only the owner can read the copy. */
export async function backupFile(file: string, to: string): Promise<void> {
  const source = new DatabaseSync(file, { readOnly: true });
  try {
    // One step: the copy would restart at every write of the other process.
    await copyDatabase(to, (copy) => backup(source, copy, { rate: MAX_PAGES }));
  } finally {
    source.close();
  }
}

/** Lets `copy` write to a temporary file, and renames it to `to` once it is on the disk. Replaces an existing file. */
export async function copyDatabase(to: string, copy: (file: string) => Promise<unknown>): Promise<void> {
  const partial = `${to}.partial`;
  await rm(partial, { force: true });
  // SQLite keeps the mode of a file that is there.
  closeSync(openSync(partial, "wx", 0o600));
  try {
    await copy(partial);
    await syncPath(partial);
    await rename(partial, to);
    await syncPath(path.dirname(to));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Syncs a file or a directory to the disk. */
async function syncPath(file: string): Promise<void> {
  const handle = await open(file, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
