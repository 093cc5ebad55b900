import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach } from "vitest";
import type { Database } from "#server/database/database.ts";
import { type DatabaseOptions, openDatabase } from "#server/database/open-database.ts";

/** Data directories and databases of the tests of one file; they are closed and removed after each test. */
export function useDataDirectory() {
  const directories: string[] = [];
  const databases: Database[] = [];
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.close();
    for (const made of directories.splice(0)) rmSync(made, { recursive: true });
  });
  const directory = (): string => {
    const made = mkdtempSync(path.join(tmpdir(), "runyard-data-"));
    directories.push(made);
    return made;
  };
  return {
    directory,
    /** Opens a database in a new directory, or the one in `file`. */
    open(file = path.join(directory(), "runyard.db"), options: DatabaseOptions = {}): Database {
      const database = openDatabase(file, options);
      databases.push(database);
      return database;
    },
  };
}
