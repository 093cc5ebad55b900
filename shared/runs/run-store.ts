import { retryableConflict } from "#shared/errors.ts";
import { parseArtifact, toArtifactItem } from "#shared/records/artifact.ts";
import { parseRunBody, type RunBody } from "#shared/records/run-body.ts";
import { type ExecutingHead, parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import { needsRoot } from "#shared/runs/capacity/slots.ts";
import { keys, runPk } from "#shared/table/keys.ts";
import { ConditionFailed, type Item, type Table, type TransactionWrite } from "#shared/table/table.ts";
import type { ArtifactItem } from "#shared/wire/artifact.ts";
import { type Change, changeWrites } from "./transition.ts";

/** A batch reads 100 items at most, and a run is two. */
const RUNS_A_BATCH = 50;

/** A run was changed by someone else between the read and the write; read it again and decide anew. */
export class RunChangedError extends Error {
  /** False where the head is as it was read, and only another write's condition failed. */
  readonly headChanged: boolean;
  override readonly cause: ConditionFailed;
  /** The writes that `cause` tells the positions of. */
  readonly writes: readonly TransactionWrite[];
  constructor(cause: ConditionFailed, writes: readonly TransactionWrite[]) {
    super("the run changed in between");
    this.name = "RunChangedError";
    this.headChanged = cause.positions.includes(0);
    this.cause = cause;
    this.writes = writes;
  }
}

const isHeadOf = ({ run_id }: RunHead, write: TransactionWrite | undefined): boolean =>
  write?.kind === "update" && write.key.pk === runPk(run_id) && write.key.sk === keys.head(run_id).sk;

/** Reads and changes of runs. Each change is one conditional transaction. */
export function runStore(table: Table) {
  async function head(runId: string): Promise<RunHead | undefined> {
    const item = await table.get(keys.head(runId));
    return item === undefined ? undefined : parseRunHead(item);
  }

  async function change(of: RunHead, change: Change, now: number): Promise<void> {
    for (let attempt = 0; attempt < 8; attempt++) {
      const root = of.root !== undefined && needsRoot(of, change) ? await head(of.root) : undefined;
      const writes = changeWrites(of, change, now, root);
      try {
        return await table.transact(writes);
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        // The root of the tree was read a moment ago by us, not by the caller: only that is tried again.
        const onRoot = root !== undefined && error.positions.every((position) => isHeadOf(root, writes[position]));
        if (!onRoot) throw new RunChangedError(error, writes);
      }
    }
    throw retryableConflict("the runs of this tree change too fast; send the request again");
  }

  async function artifacts(runId: string): Promise<ArtifactItem[]> {
    const { items } = await table.query({ pk: runPk(runId), prefix: "ARTIFACT#" });
    return items
      .map(parseArtifact)
      .filter((artifact) => artifact.committed_at !== undefined)
      .sort((a, b) => (a.committed_at ?? 0) - (b.committed_at ?? 0) || (a.uid < b.uid ? -1 : 1))
      .map(toArtifactItem);
  }

  return {
    head,
    change,
    artifacts,

    /** Writes a new run with all that belongs to it. Throws ConditionFailed with the positions of `writes`. */
    create: (writes: readonly TransactionWrite[]): Promise<void> => table.transact(writes),

    /** @throws where the run is not there: it was written with its head, and stays */
    async body(runId: string): Promise<RunBody> {
      const item = await table.get(keys.body(runId));
      if (item === undefined) throw new Error(`run ${runId} has no body`);
      return parseRunBody(item);
    },

    /** Head and body by one read; undefined where either is missing. */
    async headAndBody(runId: string): Promise<{ head: RunHead; body: RunBody } | undefined> {
      const [head, body] = await table.batchGet([keys.head(runId), keys.body(runId)]);
      return head === undefined || body === undefined
        ? undefined
        : { head: parseRunHead(head), body: parseRunBody(body) };
    },

    /** As `headAndBody`, of any number of runs, in their order. */
    async many(runIds: readonly string[]): Promise<({ head: RunHead; body: RunBody } | undefined)[]> {
      const items: (Item | undefined)[] = [];
      for (let from = 0; from < runIds.length; from += RUNS_A_BATCH) {
        const some = runIds.slice(from, from + RUNS_A_BATCH);
        items.push(...(await table.batchGet(some.flatMap((id) => [keys.head(id), keys.body(id)]))));
      }
      return runIds.map((_, index) => {
        const head = items[2 * index];
        const body = items[2 * index + 1];
        return head === undefined || body === undefined
          ? undefined
          : { head: parseRunHead(head), body: parseRunBody(body) };
      });
    },

    /** Notes a beat of the execution, if it is still the run's. False where it is not. */
    async beat(runId: string, executionId: string, now: number, followupsStored: number): Promise<boolean> {
      try {
        await table.write({
          kind: "update",
          key: keys.head(runId),
          set: { heartbeat_at: now, followups_stored: followupsStored },
          if: { execution_id: { eq: executionId }, state: { in: ["CLAIMED", "INPROGRESS"] } },
        });
        return true;
      } catch (error) {
        if (error instanceof ConditionFailed) return false;
        throw error;
      }
    },

    /** Gives a silent execution one more lease, unless it beats or ends meanwhile. */
    async extendLease({ run_id, execution_id, heartbeat_at }: ExecutingHead): Promise<void> {
      try {
        await table.write({
          kind: "update",
          key: keys.head(run_id),
          set: { extended_from: heartbeat_at },
          if: { execution_id: { eq: execution_id }, heartbeat_at: { eq: heartbeat_at } },
        });
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
      }
    },

    /** Moves the time of the reaper's next look, unless the run has moved on. */
    async checkAgain(runId: string, from: string, to: string): Promise<void> {
      try {
        await table.write({
          kind: "update",
          key: keys.head(runId),
          set: { check_at: to },
          if: { check_at: { eq: from } },
        });
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
      }
    },

    /** Timeline events after `after`, oldest first. */
    async timelineItems(runId: string, after = 0, limit?: number): Promise<{ items: readonly Item[]; more: boolean }> {
      const from = keys.event(runId, after);
      return table.query({ pk: from.pk, prefix: "EVENT#", after: from.sk, ...(limit === undefined ? {} : { limit }) });
    },

    /** Message batches after `after`, oldest first. */
    async messageItems(runId: string, after = 0, limit?: number): Promise<{ items: readonly Item[]; more: boolean }> {
      const from = keys.messages(runId, after);
      return table.query({
        pk: from.pk,
        prefix: "MESSAGES#",
        after: from.sk,
        ...(limit === undefined ? {} : { limit }),
      });
    },

    /** Follow-ups above `after`, in order. */
    async followupItems(runId: string, after: number): Promise<readonly Item[]> {
      const from = keys.followup(runId, after);
      return (await table.query({ pk: from.pk, prefix: "FOLLOWUP#", after: from.sk })).items;
    },

    get: table.get,
    query: table.query,
  };
}
export type RunStore = ReturnType<typeof runStore>;
