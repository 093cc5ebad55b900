import * as v from "valibot";
import { parseOwner, type RunHead, toCheckAttributes } from "#shared/records/run-head.ts";
import { DEPLOYMENT_WAITING, deploymentQueuePk, keys, nameDeploymentEntry, type Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { countOwner, countQueues, takePlace, toHeadPlace, toShard } from "./execution-count-store.ts";
import { readDeployment } from "./place-store.ts";
import { type SlotChoice, toHeldSlot } from "./slot-store.ts";
import type { Place } from "./slots.ts";

/** Entries that are read to find the position of a run. */
const MAX_POSITION = 1_000;

const Count = v.optional(v.number(), 0);
/** The runs of an owner that wait, and the turn of the last one that began to. */
const OwnerTurn = v.object({ waiting: Count, turn: Count });

/** A run that waits, by its owner's turn and then by its time. */
export interface DeploymentEntry {
  readonly runId: string;
  /** As the head of the run names it. */
  readonly entry: string;
  /** The sort key: its order among the entries of all partitions. */
  readonly order: string;
  readonly turn: number;
}

/**
 * The runs that wait until the deployment may have another execution. Each of them holds a slot of its owner or tree. They are divided
 * among partitions by their ids; what reads them merges all partitions.
 */
export function deploymentQueueStore(table: Pick<Table, "get" | "query" | "transact">) {
  return {
    /** The turn of the next run of an owner: the one after its last waiting run, or the current one. */
    async nextTurn(owner: Owner, current: number): Promise<number> {
      const { waiting, turn } = v.parse(OwnerTurn, (await table.get(keys.deploymentTurn(owner))) ?? {});
      return waiting > 0 ? Math.max(current, turn + 1) : current;
    },

    /** The entry of a run in a deployment with so many shards. */
    toEntry(runId: string, turn: number, { now, shards }: { readonly now: number; readonly shards: number }) {
      const queue = toShard(runId, countQueues(shards));
      const { sk } = keys.waitingForDeployment(queue, turn, now, runId);
      return { runId, entry: nameDeploymentEntry(queue, sk), order: sk, turn };
    },

    /**
     * Adds a queued run. `writes` changes its head and reports that it waits.
     * @throws ConflictError: `head` or `entry` where the run has changed, `ownerCounters`, `treeCounters` or `root` where it gets no
     *   slot to hold
     */
    async add(head: RunHead, { entry, turn }: DeploymentEntry, slot: SlotChoice, writes: NamedWrites): Promise<void> {
      await transact(table, {
        ...writes,
        entry: {
          kind: "put",
          item: { ...keys.deploymentEntry(entry), v: 1, run_id: head.run_id, turn },
          if: { pk: { exists: false } },
        },
        ownerTurn: { ...countOwner(parseOwner(head), 1), set: { turn } },
        ...toHeldSlot(head, slot),
      });
    },

    /** The runs whose turns are next, at most `limit`. */
    oldest: async (shards: number, limit: number): Promise<DeploymentEntry[]> =>
      (await readQueues(countQueues(shards), limit, table)).slice(0, limit),

    /** When the next run of the first partition began to wait, in milliseconds. */
    async nextSince(): Promise<number | undefined> {
      const { items } = await table.query({ pk: deploymentQueuePk(0), prefix: DEPLOYMENT_WAITING, limit: 1 });
      const [, , since] = items[0]?.sk.split("#") ?? [];
      return since === undefined ? undefined : Number(since);
    },

    /** About a thousand of the runs whose turns are next: all of them, if they are fewer. */
    first: (shards: number): Promise<DeploymentEntry[]> => readQueues(countQueues(shards), toPart(shards), table),

    /**
     * Counts a waiting run as an execution before it starts, and lets the reaper check it at `checkAt`.
     * @param place undefined where the deployment does not limit its executions any more
     * @throws ConflictError: `head` or `entry` where it does not wait any more, `executions` where the place is not free
     */
    async grant(
      { runId, entry }: DeploymentEntry,
      owner: Owner,
      { place, checkAt }: { readonly place: Place | undefined; readonly checkAt: number },
    ): Promise<void> {
      await transact(table, {
        executions: place && takePlace(place),
        head: {
          kind: "update",
          key: keys.head(runId),
          set: { ...(place && toHeadPlace(place)), ...toCheckAttributes(runId, checkAt) },
          remove: ["deployment_entry"],
          if: { state: { eq: "QUEUED" }, deployment_entry: { eq: entry } },
        },
        ...leaveQueue(entry),
        ownerTurn: countOwner(owner, -1),
      });
    },

    /**
     * Removes an entry that no run has, so that it does not keep others waiting.
     * @throws ConflictError: `entry` where it is removed already
     */
    drop: ({ entry }: DeploymentEntry): Promise<void> => transact(table, leaveQueue(entry)),
  };
}

/** The order of two entries: by turn, and then by time. */
export const byOrder = (a: Pick<DeploymentEntry, "order">, b: Pick<DeploymentEntry, "order">): number =>
  Number(a.order > b.order) - Number(a.order < b.order);

/** Reads at most `limit` entries of each partition, in the order of their turns. */
async function readQueues(queues: number, limit: number, table: Pick<Table, "query">): Promise<DeploymentEntry[]> {
  const pages = await Promise.all(
    Array.from({ length: queues }, async (_, queue) => {
      const { items } = await table.query({ pk: deploymentQueuePk(queue), prefix: DEPLOYMENT_WAITING, limit });
      return items.map((item) => ({
        entry: nameDeploymentEntry(queue, item.sk),
        order: item.sk,
        ...parseEntry(item),
      }));
    }),
  );
  return pages.flat().toSorted(byOrder);
}

/** The entries of one partition that are read to find a position. */
const toPart = (shards: number): number => Math.ceil(MAX_POSITION / countQueues(shards));

const leaveQueue = (entry: string): NamedWrites => ({
  entry: { kind: "delete", key: keys.deploymentEntry(entry), if: { pk: { exists: true } } },
});

/** Reads the position of a waiting run, from 1; undefined if it does not wait, or if many wait before it. */
export async function readDeploymentPosition(
  entry: string,
  table: Pick<Table, "get" | "query">,
): Promise<number | undefined> {
  const { shards } = await readDeployment(table);
  const { sk: to } = keys.deploymentEntry(entry);
  const limit = toPart(shards);
  const pages = await Promise.all(
    Array.from({ length: countQueues(shards) }, (_, queue) =>
      table.query({ pk: deploymentQueuePk(queue), from: DEPLOYMENT_WAITING, to, limit }),
    ),
  );
  const before = pages.flatMap(({ items }) => items.map(({ sk }) => sk));
  const isWhole = pages.every(({ items }) => items.length < limit || items.at(-1)?.sk === to);
  return isWhole && before.includes(to) ? before.length : undefined;
}

const Entry = v.object({ run_id: v.string(), turn: v.number() });

function parseEntry(item: unknown): Pick<DeploymentEntry, "runId" | "turn"> {
  const { run_id: runId, turn } = v.parse(Entry, item);
  return { runId, turn };
}
