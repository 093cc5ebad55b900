import { randomInt } from "node:crypto";
import { parseOwner, type RunHead, readHead } from "#shared/records/run-head.ts";
import { ConditionFailed, type Conditions, type Value } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import { byOrder, type DeploymentEntry, deploymentQueueStore } from "./deployment-queue-store.ts";
import { countShards, toShard } from "./execution-count-store.ts";
import { choosePlace, type Deployment, mayWait, placeStore } from "./place-store.ts";
import { type SlotChoice, toSlotAttributes } from "./slot-store.ts";
import type { CapacityPorts, Place } from "./slots.ts";

/** Executions that are granted by one process at once; the next run that ends grants more. */
const MAX_GRANTS = 25;
/** Milliseconds after which the reaper requests the dispatch of a run that was granted an execution, if its message was lost. */
const GRANTED_CHECK_MS = 30_000;
/** Milliseconds after which the reaper looks at a waiting run, which costs a write. Ends of executions and each pass of the reaper grant executions before. */
export const WAITING_CHECK_MS = 7 * 24 * 3_600_000;
/** Waiting runs that are read at once. */
const READ_AT_ONCE = 4;
/** Executions of a limit for which processes that grant at the same time choose among one run more, so that they do not all choose the same. */
const EXECUTIONS_PER_CHOICE = 64;

/** What changes of a run that begins to wait for the deployment. */
interface Entering {
  readonly set: Readonly<Record<string, Value>>;
  readonly if: Conditions;
  readonly checkAt: number;
  /** The run's position, from 1; where many wait, the least that it can be. */
  readonly position: number;
}

/** Finds a place for a run that is about to execute; undefined where the deployment is full, or others wait. Writes nothing. */
export async function findPlace(
  runId: string,
  maxExecutions: number,
  { table }: Pick<CapacityPorts, "table">,
): Promise<Place | undefined> {
  const places = placeStore(table);
  const found = await places.read(runId, maxExecutions);
  const shards = countAllShards(found.deployment, maxExecutions);
  const place = await choosePlace(runId, maxExecutions, found, () => places.readFree(shards));
  if (place === undefined || !mayWait(found.deployment)) return place;
  const [waiting] = await deploymentQueueStore(table).oldest(shards, 1);
  return waiting === undefined ? place : undefined;
}

/** The shards of a limit, and those that it had when it was higher. */
const countAllShards = ({ shards }: Deployment, maxExecutions: number): number =>
  Math.max(shards, countShards(maxExecutions));

/**
 * Lets a queued run wait until the deployment may have another execution, and hold its slot meanwhile. Owners take turns: a run gets
 * the turn after the last waiting run of its owner, or the current one, so that an owner with many runs does not delay the others.
 * Returns false where it gets no slot. Returns true where the run has changed too: the reaper dispatches it again.
 */
export async function enterDeploymentQueue(
  head: RunHead,
  slot: SlotChoice,
  maxExecutions: number,
  announce: (head: RunHead, entering: Entering) => NamedWrites,
  ports: CapacityPorts,
): Promise<boolean> {
  const queue = deploymentQueueStore(ports.table);
  const places = placeStore(ports.table);
  const deployment = await places.readDeployment();
  const now = ports.now();
  await places.noteQueue(deployment, now, maxExecutions);
  const waiting = await queue.first(countAllShards(deployment, maxExecutions));
  const turn = await queue.nextTurn(parseOwner(head), waiting[0]?.turn ?? 0);
  const entry = queue.toEntry(head.run_id, turn, { now, shards: countShards(maxExecutions) });
  const writes = announce(head, {
    set: { ...toSlotAttributes(head, slot), deployment_entry: entry.entry },
    if: { waiting: { exists: false }, deployment_entry: { exists: false } },
    checkAt: now + WAITING_CHECK_MS,
    position: 1 + waiting.filter((other) => byOrder(other, entry) < 0).length,
  });
  try {
    await queue.add(head, entry, slot, writes);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return error.failed.has("head") || error.failed.has("entry");
  }
  // An execution may have ended before others could see that the run waits.
  if (await grantExecutions(maxExecutions, ports)) return true;
  // It took so long that others have forgotten the queue meanwhile: without a note, no end of an execution would look for the run.
  await places.noteQueue(await places.readDeployment(), ports.now(), maxExecutions);
  await grantExecutions(maxExecutions, ports);
  return true;
}

/**
 * Reads how long the next run of one partition of the queue has waited, in milliseconds; that partition represents all of them. Undefined
 * where none waits.
 */
export async function readWait({ table, now }: Pick<CapacityPorts, "table" | "now">): Promise<number | undefined> {
  const since = await deploymentQueueStore(table).nextSince();
  return since === undefined ? undefined : Math.max(0, now() - since);
}

/**
 * Grants free executions of the deployment to the runs whose turn is next, and requests their dispatch. Returns false where no run has
 * waited.
 */
export async function grantExecutions(maxExecutions: number | undefined, ports: CapacityPorts): Promise<boolean> {
  const deployment = await placeStore(ports.table).readDeployment();
  if (mayWait(deployment)) await grantToWaiting(deployment, maxExecutions, ports);
  return mayWait(deployment);
}

async function grantToWaiting(
  deployment: Deployment,
  maxExecutions: number | undefined,
  ports: CapacityPorts,
): Promise<void> {
  const free = await findFreePlaces(deployment, maxExecutions, ports);
  const queue = deploymentQueueStore(ports.table);
  const shards = countAllShards(deployment, maxExecutions ?? 0);
  const choices = Math.max(1, Math.floor((maxExecutions ?? 0) / EXECUTIONS_PER_CHOICE));
  let waiting: DeploymentEntry[] = [];
  for (let granted = 0; granted < MAX_GRANTS && (await free.exist()); granted++) {
    if (waiting.length === 0) waiting = await queue.oldest(shards, choices + READ_AT_ONCE);
    const [next] = waiting.splice(choices === 1 ? 0 : randomInt(Math.min(choices, waiting.length || 1)), 1);
    if (next === undefined) return forgetQueue(deployment, ports);
    if ((await grantNext(next, free.choose, ports)) === "full") await free.readAgain();
  }
}

/** Grants a waiting run an execution, unless it does not wait any more. Returns "full" where there was no place for it. */
async function grantNext(
  next: DeploymentEntry,
  choose: FreePlaces["choose"],
  ports: CapacityPorts,
): Promise<"full" | undefined> {
  const queue = deploymentQueueStore(ports.table);
  const head = await readHead(next.runId, ports.table);
  if (head?.deployment_entry !== next.entry) {
    // The head of a queued run that is entering the queue may become visible later than its entry.
    if (head?.state !== "QUEUED") await queue.drop(next).catch(ignoreConflict);
    return undefined;
  }
  const owner = parseOwner(head);
  try {
    const place = await choose(next.runId);
    if (place === "full") return place;
    await queue.grant(next, owner, { place, checkAt: ports.now() + GRANTED_CHECK_MS });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    // If it was cancelled, or another process has granted it an execution, the next one follows.
    return error.failed.has("executions") ? "full" : undefined;
  }
  await ports.queue.sendRun(next.runId, owner).catch(() => undefined);
  return undefined;
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof ConflictError)) throw error;
}

async function forgetQueue(deployment: Deployment, { table, now }: CapacityPorts): Promise<void> {
  try {
    await placeStore(table).forgetQueue(deployment, now());
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

interface FreePlaces {
  readonly exist: () => Promise<boolean>;
  /** Takes one of them for a run; undefined where the deployment has no limit, so that a run needs none. */
  readonly choose: (runId: string) => Promise<Place | "full" | undefined>;
  readonly readAgain: () => Promise<void>;
}

/** Reads the free places of all shards, and returns those that a lower limit has left. */
async function findFreePlaces(
  first: Deployment,
  maxExecutions: number | undefined,
  { table }: CapacityPorts,
): Promise<FreePlaces> {
  if (maxExecutions === undefined) {
    const nothing = async () => undefined;
    return { exist: async () => true, choose: nothing, readAgain: nothing };
  }
  const places = placeStore(table);
  const shards = countShards(maxExecutions);
  let deployment = first;
  let free: number[] = [];
  const read = async () => {
    free = await places.readFree(countAllShards(deployment, maxExecutions));
    for (const [shard, count] of free.entries()) {
      if (count < 1 || (shard < shards && deployment.running <= maxExecutions)) continue;
      await places.giveBack(shard, count).then(() => {
        deployment = { ...deployment, running: deployment.running - count };
      }, ignoreConflict);
      free[shard] = 0;
    }
  };
  await read();
  return {
    exist: async () =>
      deployment.running <= maxExecutions &&
      (deployment.running < maxExecutions || free.slice(0, shards).some((count) => count > 0)),
    async choose(runId) {
      const own = shards === 0 ? 0 : (free[toShard(runId, shards)] ?? 0);
      const place = await choosePlace(runId, maxExecutions, { deployment, free: own }, async () => free);
      const { shard, block = 1, limit } = place ?? {};
      if (limit !== undefined) deployment = { ...deployment, running: deployment.running + block };
      if (shard !== undefined) free[shard] = (free[shard] ?? 0) + (limit === undefined ? -1 : block - 1);
      return place ?? "full";
    },
    async readAgain() {
      deployment = await places.readDeployment();
      await read();
    },
  };
}
