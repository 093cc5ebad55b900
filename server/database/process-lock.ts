import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { DatabaseInUse, sqliteReason } from "./sqlite-errors.ts";

export interface ProcessLock {
  release(): void;
}

/**
 * Makes this process the only user of `file`. The lock is an SQLite lock on an empty database next to it: the operating
 * system releases it however the process ends, so no stale lock can remain.
 * @throws DatabaseInUse while another process holds the lock
 */
export function lockForProcess(file: string): ProcessLock {
  createPrivate(`${file}.lock`);
  const lock = new DatabaseSync(`${file}.lock`, { timeout: 0 });
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    throw sqliteReason(error) === "busy" ? new DatabaseInUse(file, error) : error;
  }
  return { release: () => lock.close() };
}

/**
 * Creates a file that only the owner can read; SQLite keeps the mode of a file that exists. An existing one is not opened:
 * closing it would release the lock that this process may hold on it.
 */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
