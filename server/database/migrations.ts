import { closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import { syncPathNow } from "../disk/sync-path.ts";
import { DatabaseError } from "./sqlite-errors.ts";

/**
 * The steps that create the schema. `PRAGMA user_version` counts the steps that a file has been through. Never change a
 * released step; append new ones.
 */
export const MIGRATIONS: readonly string[] = [
  `
  -- The single table, as in DynamoDB. Each attribute that an index uses as a key has a column, NULL where the item lacks it.
  CREATE TABLE items (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    item TEXT NOT NULL,
    tagged INTEGER NOT NULL,
    updated_scope TEXT, updated_key TEXT,
    scope TEXT, created_key TEXT, title_key TEXT, agent_key TEXT,
    active_scope TEXT,
    check_shard TEXT, check_at TEXT,
    "group" TEXT,
    expires_at INTEGER,
    UNIQUE (pk, sk)
  ) STRICT;
  CREATE INDEX gsi1 ON items (updated_scope, updated_key) WHERE updated_scope IS NOT NULL AND updated_key IS NOT NULL;
  CREATE INDEX gsi2 ON items (scope, created_key) WHERE scope IS NOT NULL AND created_key IS NOT NULL;
  CREATE INDEX gsi3 ON items (scope, title_key) WHERE scope IS NOT NULL AND title_key IS NOT NULL;
  CREATE INDEX gsi4 ON items (scope, agent_key) WHERE scope IS NOT NULL AND agent_key IS NOT NULL;
  CREATE INDEX gsi5 ON items (active_scope, created_key) WHERE active_scope IS NOT NULL AND created_key IS NOT NULL;
  CREATE INDEX gsi6 ON items (check_shard, check_at) WHERE check_shard IS NOT NULL AND check_at IS NOT NULL;
  CREATE INDEX gsi7 ON items ("group", updated_key) WHERE "group" IS NOT NULL AND updated_key IS NOT NULL;
  CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;

  -- Messages of all queues. A dead letter is a message whose queue is called ‹name›-dead. Times are milliseconds.
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id TEXT NOT NULL,
    queue TEXT NOT NULL,
    message_group TEXT NOT NULL,
    body TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    first_received_at INTEGER,
    receives INTEGER NOT NULL DEFAULT 0,
    receipt TEXT
  ) STRICT;
  CREATE INDEX messages_by_group ON messages (queue, message_group, visible_at);
  CREATE INDEX messages_by_time ON messages (queue, visible_at);

  CREATE TABLE timers (
    id TEXT PRIMARY KEY,
    expression TEXT NOT NULL,
    time_zone TEXT NOT NULL
  ) STRICT;

  CREATE TABLE secret_values (
    team TEXT NOT NULL,
    id TEXT NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (team, id)
  ) STRICT;

  -- Values of this installation, by name.
  CREATE TABLE installation (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
  ) STRICT;
  `,
  `
  -- The executions whose harnesses this machine has started.
  CREATE TABLE executions (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- What lists of runs filter and sort by, derived from the items of the runs. A term is a property or a word that runs have.
  CREATE TABLE terms (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE listed_runs (
    run INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    scope INTEGER REFERENCES terms,
    state TEXT, updated_key TEXT, title_key TEXT, agent_key TEXT
  ) STRICT;
  CREATE INDEX listed_by_creation ON listed_runs (scope, run_id);
  CREATE INDEX listed_by_update ON listed_runs (scope, updated_key, run_id);
  CREATE INDEX listed_by_title ON listed_runs (scope, title_key);
  CREATE INDEX listed_by_agent ON listed_runs (scope, agent_key);
  CREATE INDEX listed_by_state ON listed_runs (scope, state, updated_key);
  CREATE TABLE run_terms (
    term INTEGER NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (term, run)
  ) STRICT, WITHOUT ROWID;

  -- Number of deliveries that ended with the process.
  ALTER TABLE messages ADD COLUMN interrupted INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Values of secrets are items of the table. Those of earlier releases are moved when the service starts.
  ALTER TABLE secret_values RENAME TO former_secret_values;
  `,
];

/** Names the copy that is made before a file with schema `version` is migrated. */
export const migrationBackup = (file: string, version: number): string => `${file}.schema-${version}.bak`;

/**
 * Migrates the schema to the current version in one transaction. Copies an existing file first.
 * @throws DatabaseError if the file was written by a newer release
 */
export function migrate(db: DatabaseSync, file: string, migrations: readonly string[] = MIGRATIONS): void {
  const version = schemaVersion(db);
  if (version > migrations.length) {
    throw new DatabaseError(
      `${file} was written by a newer release of Runyard (schema ${version}; this release knows ${migrations.length}). ` +
        "Install that release, or restore a backup.",
    );
  }
  if (version === migrations.length) return;
  if (version > 0) copyTo(db, migrationBackup(file, version));
  db.exec("BEGIN EXCLUSIVE");
  try {
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

const VersionRow = v.object({ user_version: v.number() });
const schemaVersion = (db: DatabaseSync): number =>
  v.parse(VersionRow, db.prepare("PRAGMA user_version").get()).user_version;

/** Writes a consistent copy that only the owner can read. Keeps the copy of an earlier attempt at the same migration. */
function copyTo(db: DatabaseSync, to: string): void {
  if (existsSync(to)) return;
  const partial = `${to}.partial`;
  rmSync(partial, { force: true });
  // SQLite writes into an empty file that is there, which keeps the mode that it was made with.
  closeSync(openSync(partial, "wx", 0o600));
  db.prepare("VACUUM INTO ?").run(partial);
  syncPathNow(partial);
  renameSync(partial, to);
  syncPathNow(path.dirname(to));
}
