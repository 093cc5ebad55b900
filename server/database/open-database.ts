import { closeSync, fsyncSync, openSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import { Database } from "./database.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { lockForProcess } from "./process-lock.ts";
import { toOpenError } from "./sqlite-errors.ts";

/** Kilobytes of pages that the connection keeps in memory. */
const CACHE_KB = 16_384;

export interface DatabaseOptions {
  /** Bytes that the file may grow to; writes beyond that fail as on a full disk. @default unlimited */
  readonly maxBytes?: number;
  /** The steps of the schema. @default those of this release */
  readonly migrations?: readonly string[];
}

/**
 * Opens the database of a data directory, or makes it, and brings its schema up to date. The directory must exist.
 * @throws DatabaseInUse where another process has it open
 * @throws DatabaseError with what to do where it cannot be opened
 */
export function openDatabase(file: string, options: DatabaseOptions = {}): Database {
  try {
    // Before anything else touches the file: closing any descriptor of it would release the locks that SQLite holds.
    const lock = lockForProcess(file);
    try {
      const connection = connect(file, options);
      return new Database({ connection, lock, log: openSync(`${file}-wal`, "r+") });
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw toOpenError(error, file);
  }
}

function connect(file: string, { maxBytes, migrations = MIGRATIONS }: DatabaseOptions): DatabaseSync {
  // The log and the shared memory take over the mode.
  closeSync(openSync(file, "a", 0o600));
  const connection = new DatabaseSync(file, { timeout: 5_000 });
  try {
    connection.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -${CACHE_KB};
      PRAGMA temp_store = MEMORY;
    `);
    migrate(connection, file, migrations);
    // From here on, Database syncs the log.
    connection.exec("PRAGMA synchronous = NORMAL");
    if (maxBytes !== undefined) limitSize(connection, maxBytes);
    syncDirectory(path.dirname(file));
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

const PageSize = v.object({ page_size: v.number() });

function limitSize(connection: DatabaseSync, maxBytes: number): void {
  const { page_size } = v.parse(PageSize, connection.prepare("PRAGMA page_size").get());
  connection.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / page_size))}`);
}

/** A file that was just made is found after a power failure once its directory is on the disk. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
