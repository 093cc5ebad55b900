import { closeSync, openSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { backup, DatabaseSync } from "node:sqlite";

/** More pages than any database has. */
const MAX_PAGES = 0x7fffffff;

/** Copies the database of another process, which may be in use, to a new file. The copy is readable by its owner alone. */
export async function backupFile(file: string, to: string): Promise<void> {
  const source = new DatabaseSync(file, { readOnly: true });
  try {
    // In one step: the copy begins again at every write of the other process.
    await copyDatabase(to, (copy) => backup(source, copy, { rate: MAX_PAGES }));
  } finally {
    source.close();
  }
}

/** Lets `copy` fill a file that has another name until it is complete and on the disk. A file at `to` is replaced. */
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

/** Brings a file's content, or a directory's entries, to the disk. */
async function syncPath(file: string): Promise<void> {
  const handle = await open(file, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
