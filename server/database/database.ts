import { closeSync, fdatasync } from "node:fs";
import { backup, type DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { copyDatabase } from "./backup.ts";
import type { ProcessLock } from "./process-lock.ts";
import { DatabaseError, sqliteReason, toServiceError } from "./sqlite-errors.ts";

const syncData = promisify(fdatasync);

/** Transactions that are committed together at most; more wait for the next commit, so that none blocks for long. */
const MAX_GROUP = 200;

interface Job {
  readonly work: () => unknown;
  settle(outcome: Outcome): void;
}
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** What a database is opened from. */
export interface OpenedFile {
  readonly connection: DatabaseSync;
  /** The write-ahead log, open for syncing it. */
  readonly log: number;
  readonly lock: ProcessLock;
}

/**
 * The one connection of the process, which the table, the queues, the timers and the secrets share.
 *
 * Writes that are asked for while a commit is under way are committed together, with one sync of the log. SQLite itself
 * does not sync at a commit (`synchronous = NORMAL`), because that would stop the event loop for as long as the disk
 * takes. The log is synced by a thread of Node's pool instead, and no promise of a write or of a read resolves before what
 * it tells of is on the disk: callers see the guarantees of `synchronous = FULL`.
 */
export class Database {
  readonly #opened: OpenedFile;
  readonly #statements = new Map<string, StatementSync>();
  #pending: Job[] = [];
  /** The commits under way, until none is pending. */
  #flushing: Promise<void> | undefined;
  /** The sync of what was committed last. */
  #syncing: Promise<void> | undefined;
  #failure: DatabaseError | undefined;
  #closed = false;

  constructor(opened: OpenedFile) {
    this.#opened = opened;
  }

  /** A prepared statement, the same one for the same text. */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#opened.connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Reads, synchronously, and resolves when all that could be read is on the disk. */
  async read<T>(work: () => T): Promise<T> {
    this.#throwIfUnusable();
    const found = readOrThrow(work);
    await this.#syncing;
    return found;
  }

  /**
   * A transaction: all that `work` writes, or nothing where it throws. `work` is synchronous. Resolves when the
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
   * A transaction that is committed at once and reaches the disk with the next sync: the end of the process does not undo
   * it, a power failure may. For what is harmless to do again.
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

  /** Copies the database to a new file while it is in use. The copy is readable by its owner alone. */
  async backup(to: string): Promise<void> {
    await this.#syncing;
    await copyDatabase(to, (file) => backup(this.#opened.connection, file, { rate: 500 }));
  }

  /** Waits for the writes that were asked for, and closes the file. */
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
      // Whoever is to write in this turn of the event loop still joins.
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

  /** Syncs the log; answers why that failed. Nothing can be promised from then on, so the database is of no use any more. */
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

  /** Commits the jobs in one transaction, each in a savepoint of its own. */
  #commit(group: readonly Job[]): Outcome[] {
    try {
      this.statement("BEGIN IMMEDIATE").run();
      const outcomes = group.map((job) => this.#attempt(job));
      this.statement("COMMIT").run();
      return outcomes;
    } catch (error) {
      if (this.#opened.connection.isTransaction) this.statement("ROLLBACK").run();
      if (group.length === 1) return [{ error: toServiceError(error) }];
      // SQLite may have undone the others too (a full disk): each has another chance by itself.
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
