import { closeSync, openSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import { syncPathNow } from "../disk/sync-path.ts";
import { Database } from "./database.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { lockForProcess } from "./process-lock.ts";
import { toOpenError } from "./sqlite-errors.ts";

/** Page cache of the connection, in kilobytes. */
const CACHE_KB = 16_384;

export interface DatabaseOptions {
  /** Maximum size of the file; writes beyond it fail as on a full disk. @default unlimited */
  readonly maxBytes?: number;
  /** The schema's migrations. @default those of this release */
  readonly migrations?: readonly string[];
}

/**
 * Opens or creates a database and migrates its schema. The directory must exist.
 * @throws DatabaseInUse if another process has it open
 * @throws DatabaseError if it cannot be opened; the message says how to resolve that
 */
export function openDatabase(file: string, options: DatabaseOptions = {}): Database {
  try {
    // First, because closing any descriptor of the file would release the locks that SQLite holds on it.
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
  // SQLite gives the log and the shared memory the mode of the file.
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
    // From here on, the Database class syncs the log.
    connection.exec("PRAGMA synchronous = NORMAL");
    if (maxBytes !== undefined) limitSize(connection, maxBytes);
    syncPathNow(path.dirname(file));
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
