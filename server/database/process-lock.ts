import { DatabaseSync } from "node:sqlite";
import { DatabaseInUse, sqliteReason } from "./sqlite-errors.ts";

export interface ProcessLock {
  release(): void;
}

/**
 * Makes this process the only one that uses `file`. The lock is SQLite's own, on an empty database next to it: the
 * operating system releases it however the process ends, so a lock is never left behind.
 * @throws DatabaseInUse while another process holds it
 */
export function lockForProcess(file: string): ProcessLock {
  const lock = new DatabaseSync(`${file}.lock`, { timeout: 0 });
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    throw sqliteReason(error) === "busy" ? new DatabaseInUse(file, error) : error;
  }
  return { release: () => lock.close() };
}
