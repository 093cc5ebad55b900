import { closeSync, fdatasync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import type { ProcessLock } from "./process-lock.ts";
import { DatabaseError, sqliteReason, toServiceError } from "./sqlite-errors.ts";

const syncData = promisify(fdatasync);

/** Maximum number of transactions in one commit. The rest wait for the next one, so that no commit blocks for long. */
const MAX_GROUP = 200;

interface Job {
  readonly work: () => unknown;
  settle(outcome: Outcome): void;
}
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** The resources of an open database. */
export interface OpenedFile {
  readonly connection: DatabaseSync;
  /** File descriptor of the write-ahead log. */
  readonly log: number;
  readonly lock: ProcessLock;
}

/**
 * The process's only connection, shared by the table, the queues, the timers and the secrets.
 *
 * Writes that arrive during a commit are committed together afterwards, with one sync of the write-ahead log. SQLite
 * itself does not sync at a commit (`synchronous = NORMAL`), because that would block the event loop for as long as the
 * disk takes. The log is synced in Node's thread pool instead, and no promise of a write or a read resolves before the
 * data is on the disk: callers have the guarantees of `synchronous = FULL`.
 */
export class Database {
  readonly #opened: OpenedFile;
  readonly #statements = new Map<string, StatementSync>();
  #pending: Job[] = [];
  /** Resolves when no write is pending. */
  #flushing: Promise<void> | undefined;
  /** The sync of the last commit, while it is in progress. */
  #syncing: Promise<void> | undefined;
  #failure: DatabaseError | undefined;
  #closed = false;

  constructor(opened: OpenedFile) {
    this.#opened = opened;
  }

  /** Returns the prepared statement for a text; statements are cached. */
  statement(sql: string): StatementSync {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    const statement = this.#opened.connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Runs a synchronous read. Resolves when all data that it could see is on the disk. */
  async read<T>(work: () => T): Promise<T> {
    this.#throwIfUnusable();
    const found = readOrThrow(work);
    await this.#syncing;
    return found;
  }

  /**
   * Runs a transaction. `work` is synchronous; if it throws, all of its writes are rolled back. Resolves when the
   * transaction is on the disk.
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#throwIfUnusable();
      let value: { readonly is: T } | undefined;
      this.#pending.push({
        work: () => {
          value = { is: work() };
        },
        settle: (outcome) => {
          if ("error" in outcome) reject(outcome.error);
          else if (value !== undefined) resolve(value.is);
        },
      });
      this.#flushing ??= this.#flush();
    });
  }

  /**
   * Commits a transaction immediately and does not wait for the disk. A crash of the process does not undo it, a power
   * failure may. Use it only for work that is safe to repeat.
   */
  writeUnsynced<T>(work: () => T): T {
    this.#throwIfUnusable();
    let value: { readonly is: T } | undefined;
    const job: Job = {
      work: () => {
        value = { is: work() };
      },
      settle: () => undefined,
    };
    const [outcome] = this.#commit([job]);
    if (outcome !== undefined && "error" in outcome) throw outcome.error;
    if (value === undefined) throw new Error("a transaction had no outcome");
    return value.is;
  }

  /** Waits for pending writes and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#flushing;
    closeSync(this.#opened.log);
    this.#opened.connection.close();
    this.#opened.lock.release();
  }

  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      // Writes of the current turn of the event loop join this commit.
      await nextTurn();
      const group = this.#pending.splice(0, MAX_GROUP);
      const outcomes = this.#commit(group);
      const failure = outcomes.some((outcome) => "value" in outcome) ? await this.#sync() : undefined;
      group.forEach((job, index) => {
        job.settle(failure === undefined ? (outcomes[index] ?? { value: undefined }) : { error: failure });
      });
    }
    this.#flushing = undefined;
  }

  /** Syncs the log; returns the error if that failed. After a failed sync, the database refuses all further use. */
  async #sync(): Promise<DatabaseError | undefined> {
    this.#syncing = syncData(this.#opened.log).catch((error: unknown) => {
      this.#failure = new DatabaseError("The database could not be synced to the disk; restart the process.", error);
      throw this.#failure;
    });
    try {
      await this.#syncing;
    } catch {
      return this.#failure;
    } finally {
      this.#syncing = undefined;
    }
    return undefined;
  }

  /** Commits the jobs in one transaction, each in its own savepoint. */
  #commit(group: readonly Job[]): Outcome[] {
    try {
      this.statement("BEGIN IMMEDIATE").run();
      const outcomes = group.map((job) => this.#attempt(job));
      this.statement("COMMIT").run();
      return outcomes;
    } catch (error) {
      if (this.#opened.connection.isTransaction) this.statement("ROLLBACK").run();
      if (group.length === 1) return [{ error: toServiceError(error) }];
      // An SQLite error, such as a full disk, can roll back the whole group: each job is retried on its own.
      return group.flatMap((job) => this.#commit([job]));
    }
  }

  #attempt(job: Job): Outcome {
    this.statement("SAVEPOINT job").run();
    try {
      const value = job.work();
      this.statement("RELEASE job").run();
      return { value };
    } catch (error) {
      if (sqliteReason(error) !== undefined) throw error;
      this.statement("ROLLBACK TO job").run();
      this.statement("RELEASE job").run();
      return { error };
    }
  }

  #throwIfUnusable(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw new DatabaseError("The database is closed.");
  }
}

function readOrThrow<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toServiceError(error);
  }
}
