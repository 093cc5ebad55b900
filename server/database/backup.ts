import { closeSync, openSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { syncPath } from "../disk/sync-path.ts";

/** Larger than the number of pages of any database. */
const MAX_PAGES = 0x7fffffff;

/**
 * Copies a database that another process may be using to a temporary file, and renames it to `to` once it is on the disk. Replaces an
 * existing file. Only the owner can read the copy.
 */
export async function backupFile(file: string, to: string): Promise<void> {
  const partial = `${to}.partial`;
  const source = new DatabaseSync(file, { readOnly: true });
  try {
    await rm(partial, { force: true });
    // SQLite keeps the mode of a file that is there.
    closeSync(openSync(partial, "wx", 0o600));
    // One step: the copy would restart at every write of the other process.
    await backup(source, partial, { rate: MAX_PAGES });
    await syncPath(partial);
    await rename(partial, to);
    await syncPath(path.dirname(to));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    source.close();
  }
}
