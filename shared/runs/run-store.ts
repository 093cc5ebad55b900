import { notFound } from "#shared/errors.ts";
import { parseRunBody, type RunBody } from "#shared/records/run-body.ts";
import { parseRunHead, type RunHead, readHead } from "#shared/records/run-head.ts";
import { needsRoot } from "#shared/runs/capacity/slots.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites, transact } from "#shared/table/transact.ts";
import { runLeaseStore } from "./run-lease-store.ts";
import { runTimelineStore } from "./run-timeline-store.ts";
import type { Change } from "./transition.ts";
import { toTransitionWrites } from "./transition-store.ts";

/**
 * A run changed between the read of its head and the write, or another write of the transaction was refused. The caller
 * reads the run again and decides on what it is now.
 */
export class RunChangedError extends ConflictError {
  constructor({ failed, cause }: ConflictError) {
    super(failed, cause);
    this.name = "RunChangedError";
  }

  /** False where the head is as it was read, and only another write's condition failed. */
  get headChanged(): boolean {
    return this.failed.has("head");
  }
}

/** The two items of a run that every reader needs. */
interface StoredRun {
  readonly head: RunHead;
  readonly body: RunBody;
}

/** Reads and changes runs. Each change is one conditional transaction. */
export function runStore(table: Table) {
  return {
    ...runReader(table),
    ...runLeaseStore(table),
    ...runTimelineStore(table),

    /**
     * Writes a new run with everything that belongs to it.
     * @throws ConflictError naming the failed writes
     */
    create: (writes: NamedWrites): Promise<void> => transact(table, writes),

    /**
     * Changes a run whose head was read as `head`, at `now` in milliseconds.
     * @throws RunChangedError naming the failed writes: `head` where the run has changed since
     */
    change: (head: RunHead, change: Change, now: number): Promise<void> => changeRunItems(head, change, now, table),

    get: table.get,
    query: table.query,
  };
}
export type RunStore = ReturnType<typeof runStore>;

function runReader(table: Table) {
  return {
    /** Reads the head of a run; undefined if the run does not exist. */
    head: (runId: string): Promise<RunHead | undefined> => readHead(runId, table),

    /** @throws RunyardError 404 where the run was deleted since its head was read */
    async body(runId: string): Promise<RunBody> {
      const item = await table.get(keys.body(runId));
      if (item === undefined) throw notFound("run");
      return parseRunBody(item);
    },

    /** Reads head and body in one call; undefined if either does not exist. */
    async headAndBody(runId: string): Promise<StoredRun | undefined> {
      const [head, body] = await table.batchGet([keys.head(runId), keys.body(runId)]);
      return toStoredRun(head, body);
    },

    /** Reads head and body of any number of runs, in their order. */
    async many(runIds: readonly string[]): Promise<(StoredRun | undefined)[]> {
      const items = await batchGetAll(
        runIds.flatMap((id) => [keys.head(id), keys.body(id)]),
        table,
      );
      return runIds.map((_, index) => toStoredRun(items[2 * index], items[2 * index + 1]));
    },
  };
}

const toStoredRun = (head: Item | undefined, body: Item | undefined): StoredRun | undefined =>
  head === undefined || body === undefined ? undefined : { head: parseRunHead(head), body: parseRunBody(body) };

/** The root of the tree is read here, and not by the caller: a conflict on it alone is tried again. */
async function changeRunItems(head: RunHead, change: Change, now: number, table: Table): Promise<void> {
  const attempt = async () => {
    const root = head.root !== undefined && needsRoot(head, change) ? await readHead(head.root, table) : undefined;
    try {
      await transact(table, toTransitionWrites(head, change, now, root));
    } catch (error) {
      if (!(error instanceof ConflictError) || (root !== undefined && error.failedOnly("root"))) throw error;
      throw new RunChangedError(error);
    }
  };
  const isConflict = (error: unknown) => error instanceof ConflictError && !(error instanceof RunChangedError);
  await retryOnConflict("the runs of this tree are", attempt, { isConflict });
}
