import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import { type Item, type Table, valueUnchanged } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { countExecutions, countShards, toBlock, toShard } from "./execution-count-store.ts";
import type { Place } from "./slots.ts";

const Count = v.optional(v.number(), 0);
/** The item of the deployment: its executions and leased places, and since when runs wait, if they do. */
const Deployment = v.object({
  running: Count,
  /** The most shards that the deployment has had under any of its limits. */
  shards: Count,
  /** Runs wait, or have waited shortly before. Milliseconds. */
  queue_at: v.exactOptional(v.number()),
  /** Runs that wait since an earlier release, which counted them here. */
  waiting: Count,
});
export type Deployment = v.InferOutput<typeof Deployment>;
const Free = v.object({ free: Count });

/** After these milliseconds without a run that enters the queue, the deployment forgets that runs wait; then a new run need not look. */
const QUEUE_MEMORY_MS = 10_000;
/** Runs that enter the queue note it once in this time, in milliseconds. */
const NOTE_INTERVAL_MS = 2_000;

/** The places of a deployment that limits its executions. */
export function placeStore(table: Pick<Table, "get" | "batchGet" | "write" | "transact">) {
  return {
    readDeployment: (): Promise<Deployment> => readDeployment(table),

    /** Reads the deployment and what is free in the shard that a run looks into first. */
    async read(runId: string, maxExecutions: number): Promise<{ deployment: Deployment; free: number }> {
      const shard = toShard(runId, countShards(maxExecutions));
      const [deployment, places] = await table.batchGet([
        keys.executions(),
        ...(countShards(maxExecutions) === 0 ? [] : [keys.executionPlaces(shard)]),
      ]);
      return { deployment: parseDeployment(deployment), free: parseFree(places) };
    },

    /** The free places of the first `count` shards. */
    async readFree(count: number): Promise<number[]> {
      const items = await table.batchGet(Array.from({ length: count }, (_, shard) => keys.executionPlaces(shard)));
      return items.map(parseFree);
    },

    /**
     * Returns free places of a shard, so that another shard can lease them, or nobody where the limit is lower than it was.
     * @throws ConflictError where they are not free any more
     */
    giveBack: (shard: number, free: number): Promise<void> =>
      transact(table, {
        places: {
          kind: "update",
          key: keys.executionPlaces(shard),
          add: { free: -free },
          if: { free: { atLeast: free } },
        },
        executions: countExecutions({ running: -free }),
      }),

    /** Notes that a run waits, before it does, so that no later run overtakes it. */
    async noteQueue({ queue_at, shards }: Deployment, now: number, maxExecutions: number): Promise<void> {
      const most = Math.max(shards, countShards(maxExecutions));
      if (queue_at !== undefined && now - queue_at < NOTE_INTERVAL_MS && most === shards) return;
      await table.write({ kind: "update", key: keys.executions(), set: { queue_at: now, shards: most } });
    },

    /**
     * Forgets that runs wait, if none has begun to for a while.
     * @throws ConditionFailed where another has begun to
     */
    async forgetQueue({ queue_at }: Deployment, now: number): Promise<void> {
      if (queue_at !== undefined && now - queue_at < QUEUE_MEMORY_MS) return;
      await table.write({
        kind: "update",
        key: keys.executions(),
        remove: ["queue_at", "waiting"],
        if: { queue_at: valueUnchanged(queue_at) },
      });
    },
  };
}

export const readDeployment = async (table: Pick<Table, "get">): Promise<Deployment> =>
  parseDeployment(await table.get(keys.executions()));

const parseDeployment = (item: Item | undefined): Deployment => v.parse(Deployment, item ?? {});
const parseFree = (item: Item | undefined): number => v.parse(Free, item ?? {}).free;

/** True if runs wait for an execution, or did shortly before. */
export const mayWait = ({ queue_at, waiting }: Deployment): boolean => queue_at !== undefined || waiting > 0;

/**
 * Chooses a place for a run: in the shard that it looks into first, by a lease, or in the next shard that has one free.
 * Undefined where the deployment is full.
 */
export async function choosePlace(
  runId: string,
  maxExecutions: number,
  { deployment, free }: { readonly deployment: Deployment; readonly free: number },
  readFree: () => Promise<readonly number[]>,
): Promise<Place | undefined> {
  const room = maxExecutions - deployment.running;
  // The limit was lowered: shards may have free places that are above it.
  if (room < 0) return undefined;
  const shards = countShards(maxExecutions);
  if (shards === 0) return room === 0 ? undefined : { limit: maxExecutions };
  const first = toShard(runId, shards);
  if (free > 0) return { shard: first };
  if (room > 0) {
    const block = Math.min(room, toBlock(maxExecutions));
    return { shard: first, limit: maxExecutions, block, shards: Math.max(shards, deployment.shards) };
  }
  const all = await readFree();
  const shard = all
    .map((_, offset) => (first + offset) % all.length)
    .find((candidate) => candidate < shards && (all[candidate] ?? 0) > 0);
  return shard === undefined ? undefined : { shard };
}
