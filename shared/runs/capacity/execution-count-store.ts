import { digestNumber } from "#shared/ids.ts";
import type { HeadAttributes, HeadConditions, HeadUpdate } from "#shared/records/head-attributes.ts";
import { isExecuting } from "#shared/records/run.ts";
import { isOnOwnSandbox, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Update } from "#shared/table/table.ts";
import type { NamedWrites } from "#shared/table/transact.ts";
import type { Place, SlotTransition } from "./slots.ts";

/** Executions of a limit for which there is one shard; deployments with fewer than two shards count in one item. */
const EXECUTIONS_PER_SHARD = 16;
/** All of them and the item that they lease from are read in one batch. */
const MAX_SHARDS = 96;
/** Blocks of the places that one shard may need. It leases one at a time, so that other shards find places before they have to search. */
const BLOCKS_PER_SHARD = 4;
const MAX_QUEUES = 16;

/** The number of shards that count the executions of a deployment; 0 where one item counts them. */
export function countShards(maxExecutions: number): number {
  const shards = Math.min(MAX_SHARDS, Math.floor(maxExecutions / EXECUTIONS_PER_SHARD));
  return shards < 2 ? 0 : shards;
}

/** The number of partitions that waiting runs are divided among. */
export const countQueues = (shards: number): number => Math.max(1, Math.min(MAX_QUEUES, shards));

/** The shard that a run looks into first. */
export const toShard = (runId: string, shards: number): number => (shards === 0 ? 0 : digestNumber(runId) % shards);

/** The places that a shard leases at once. */
export const toBlock = (maxExecutions: number): number =>
  Math.max(1, Math.floor(maxExecutions / (countShards(maxExecutions) * BLOCKS_PER_SHARD)));

interface ExecutionCount extends HeadUpdate {
  readonly writes: NamedWrites;
}

const NO_CHANGE: ExecutionCount = { set: {}, remove: [], if: {}, writes: {} };

/**
 * Builds what a state transition changes of the number of executions in the deployment, which only a deployment with a limit counts. The
 * head says whether its run is counted or waits, so that the limit can be introduced and removed while runs execute. A run that
 * continues immediately in a new execution stays counted.
 */
export function toExecutionCount(head: RunHead, { to, keepsSlot, place }: SlotTransition): ExecutionCount {
  if (to === undefined) return NO_CHANGE;
  if (head.deployment_entry !== undefined) return leaveDeploymentQueue(head, head.deployment_entry);
  const isOutside: HeadConditions = head.state === "QUEUED" ? { deployment_entry: { exists: false } } : {};
  const unchanged = { ...NO_CHANGE, if: isOutside };
  if (head.counted === true) {
    if (isExecuting(to) || keepsSlot === true) return unchanged;
    const remove = head.place === undefined ? (["counted"] as const) : (["counted", "place"] as const);
    return { set: {}, remove, if: isOutside, writes: { executions: returnPlace(head.place) } };
  }
  if (!isExecuting(to) || place === undefined || !needsPlace(head)) return unchanged;
  return { set: toHeadPlace(place), remove: [], if: isOutside, writes: { executions: takePlace(place) } };
}

/** True if a run needs a place to execute, in a deployment that limits its executions. */
export const needsPlace = (head: RunHead): boolean => head.counted !== true && isOnOwnSandbox(head);

/** What the head of a run says about its place. */
export const toHeadPlace = ({ shard }: Place): HeadAttributes =>
  shard === undefined ? { counted: true } : { counted: true, place: shard };

/** Builds the writes that take a place, provided that it is still free. */
export function takePlace({ shard, limit, block = 1, shards }: Place): Update[] {
  const lease: Update[] =
    limit === undefined
      ? []
      : [
          {
            ...countExecutions({ running: block }),
            ...(shards !== undefined && { set: { shards } }),
            if: { running: { absentOr: { below: limit - block + 1 } } },
          },
        ];
  if (shard === undefined) return lease;
  const key = keys.executionPlaces(shard);
  if (limit !== undefined) return [...lease, { kind: "update", key, set: { v: 1 }, add: { free: block - 1 } }];
  return [{ kind: "update", key, add: { free: -1 }, if: { free: { atLeast: 1 } } }];
}

const returnPlace = (shard: number | undefined): Update =>
  shard === undefined
    ? countExecutions({ running: -1 })
    : { kind: "update", key: keys.executionPlaces(shard), add: { free: 1 } };

const leaveDeploymentQueue = (head: RunHead, entry: string): ExecutionCount => ({
  set: {},
  remove: ["deployment_entry"],
  if: { deployment_entry: { eq: entry } },
  writes: {
    deploymentEntry: { kind: "delete", key: keys.deploymentEntry(entry) },
    ownerTurn: countOwner(parseOwner(head), -1),
  },
});

export const countExecutions = (add: Readonly<Record<string, number>>): Update => ({
  kind: "update",
  key: keys.executions(),
  add,
});

/** Changes the number of an owner's runs that wait for an execution. */
export const countOwner = (owner: Owner, waiting: number): Update => ({
  kind: "update",
  key: keys.deploymentTurn(owner),
  add: { waiting },
});
