import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";

/**
 * Creates a directory that only its owner may use, and its parents. It does so one by one, since Node's recursive
 * `mkdir` never returns where a file system reports `ENOENT` for a new directory, as `/proc` does.
 */
export function createDirectory(directory: string): void {
  if (existsSync(directory)) return;
  createDirectory(path.dirname(path.resolve(directory)));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it in between.
    if (!existsSync(directory)) throw error;
  }
}
