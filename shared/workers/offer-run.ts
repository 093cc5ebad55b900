import { randomId } from "#shared/ids.ts";
import { logLine } from "#shared/log/log.ts";
import { hashKey, newRunKey } from "#shared/principals/api-key.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { isTerminal } from "#shared/records/run.ts";
import { type ExecutingHead, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { returnToQueue } from "#shared/runs/return-to-queue.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { type StartChange, sandboxUnchanged } from "#shared/runs/transition.ts";
import { PROVIDERS } from "#shared/sandbox/providers.ts";
import { toAssignmentFrame } from "./assignment.ts";
import { postCancellation } from "./cancel-task.ts";
import { waitingRunStore } from "./waiting-run-store.ts";
import type { OfferPorts } from "./worker-ports.ts";
import { type Connection, type ConnectionKey, toOfferWrites, type WorkerStore, workerStore } from "./worker-store.ts";

const OFFER_SECONDS = PROVIDERS.worker.startSeconds;
/** Offers of one pass; every claim starts another pass. */
const MAX_OFFERS = 50;
/** Milliseconds for which a connection that left an offer unclaimed gets no other: doubled each time, up to the maximum. */
const UNCLAIMED_MS = 60_000;
const MAX_UNCLAIMED_MS = 900_000;
/** API Gateway rejects messages to a connection that is still being opened. */
const OPENING_MS = 5_000;
const SETTLE_MS = 1_000;
/** A connection that is free again so soon is waited for. */
const SOON_MS = 2_000;
const SOON_SECONDS = 2;
/** Milliseconds by which the check of an offer may be late if a check is planned already. */
const LATE_CHECK_MS = 15_000;

/** Lets a queued run wait for its worker, and offers the runs that wait for it. */
export async function offerRun(head: RunHead, workerHost: string, ports: OfferPorts): Promise<void> {
  const { uid } = parseOwner(head);
  await waitingRunStore(ports).add(uid, workerHost, head.run_id);
  await offerWaitingRuns(uid, workerHost, ports);
}

/**
 * Offers the runs that wait for a worker to its free connections, the oldest run first. A connection has at most one offer that it
 * has not claimed yet: only the worker knows its capacity, and rejects tasks beyond it.
 */
async function offerWaitingRuns(team: string, workerHost: string, ports: OfferPorts): Promise<void> {
  const store = workerStore(ports);
  const waiting = waitingRunStore(ports);
  for (let offers = 0; offers < MAX_OFFERS; offers++) {
    const [runId] = await waiting.oldest(team, workerHost, 1);
    if (runId === undefined) return;
    const head = await ports.runs.head(runId);
    if (head?.state !== "QUEUED" || head.worker_host !== workerHost) {
      await waiting.remove(team, workerHost, runId);
      continue;
    }
    const connections = (await store.ofWorker(team, workerHost)).filter(({ draining }) => draining !== true);
    const free = await chooseConnection(team, connections, ports);
    if (free === undefined) {
      const now = ports.now();
      const isSoonFree = connections.some(({ busy_until: until }) => until > now && until <= now + SOON_MS);
      if (isSoonFree) await ports.queue.sendRun(runId, parseOwner(head), SOON_SECONDS);
      return;
    }
    await offerTo(free, head, store, ports);
  }
}

/** Chooses the free connection that has waited longest for an offer, and closes those whose key is not valid any more. */
async function chooseConnection(
  team: string,
  connections: readonly Connection[],
  ports: OfferPorts,
): Promise<Connection | undefined> {
  const now = ports.now();
  const free = connections
    .filter(({ busy_until, offer_until = 0 }) => busy_until <= now && offer_until <= now)
    .toSorted((a, b) => a.offered_at - b.offered_at || a.connected_at - b.connected_at);
  for (const connection of free) {
    if (await isKeyValid(connection.key_hash, team, ports)) return connection;
    const { connection_id, worker_host } = connection;
    await workerStore(ports).forget({ team, workerHost: worker_host, connectionId: connection_id });
    await ports.sockets.close(connection_id);
  }
  return undefined;
}

/** Whether the key that a connection was opened with may still open one: it is not deleted or expired, and its owner is in the team. */
export const isKeyValid = (keyHash: string, team: string, { table, now }: Pick<RunPorts, "table" | "now">) =>
  principalStore(table, now).isValidIn(keyHash, team);

async function offerTo(connection: Connection, head: RunHead, store: WorkerStore, ports: OfferPorts): Promise<void> {
  const team = parseOwner(head).uid;
  const to = { team, workerHost: connection.worker_host, connectionId: connection.connection_id };
  const offer = { runId: head.run_id, executionId: randomId(), key: newRunKey(head.run_id) };
  // The worker may still execute an earlier execution of the run, whose cancellation must not arrive after this offer.
  for (const stop of head.stops ?? []) if (stop.provider === "worker") await postCancellation(head, stop, ports);
  try {
    await ports.runs.change(head, toPendingChange(head, to, offer, ports.now()), ports.now());
  } catch (error) {
    // The run was cancelled, or the connection was chosen by another pass at the same time.
    if (error instanceof RunChangedError) return;
    throw error;
  }
  const back = (why: string) => returnToQueue(head.run_id, offer.executionId, why, ports, "unstarted");
  try {
    const frame = await toAssignmentFrame(head, offer, ports);
    if (await ports.sockets.post(connection.connection_id, frame)) return;
  } catch (error) {
    logLine("warn", "a run could not be offered", { run_id: head.run_id, error });
    await store.block(to, ports.now() + SETTLE_MS);
    return back("the run could not be offered to its worker");
  }
  const isOpening = ports.now() - connection.connected_at < OPENING_MS;
  await (isOpening ? store.block(to, ports.now() + SETTLE_MS) : store.forget(to));
  await back("the connection of the worker was closed");
}

function toPendingChange(
  head: RunHead,
  to: ConnectionKey,
  { runId, executionId, key }: { readonly runId: string; readonly executionId: string; readonly key: string },
  now: number,
): StartChange {
  const until = now + OFFER_SECONDS * 1000;
  const otherStops = (head.stops ?? []).filter(({ provider }) => provider !== "worker");
  const dropsStops = otherStops.length < (head.stops ?? []).length;
  return {
    to: "PENDING",
    events: [
      {
        type: "run_pending",
        data: { state: "PENDING", execution_id: executionId, sandbox: "worker", worker_host: to.workerHost },
      },
    ],
    set: {
      execution_id: executionId,
      key_hash: hashKey(key),
      state_since: now,
      heartbeat_at: now,
      sandbox: { provider: "worker", handle: to.connectionId },
      ...(dropsStops && otherStops.length > 0 ? { stops: otherStops.map((stop) => ({ ...stop })) } : {}),
    },
    ...(dropsStops && otherStops.length === 0 ? { remove: ["stops"] } : {}),
    ...(dropsStops ? { if: sandboxUnchanged(head) } : {}),
    add: { executions: 1, ...(dropsStops ? { sandbox_changes: 1 } : {}) },
    checkAt: { at: until, from: until, to: until + LATE_CHECK_MS },
    also: toOfferWrites(to, { runId, executionId, now, until }),
  };
}

/** Takes back an offer that was not claimed in time. Its connection gets no other one for a while. */
export async function takeBackOffer(head: ExecutingHead, ports: RunPorts): Promise<void> {
  const connectionId = head.sandbox?.handle;
  const store = workerStore(ports);
  const found = connectionId === undefined ? undefined : await store.find(connectionId);
  if (found?.connection.offer === head.execution_id) {
    const wait = Math.min(UNCLAIMED_MS * 2 ** found.connection.unclaimed, MAX_UNCLAIMED_MS);
    await store.block(found.key, ports.now() + wait, true);
  }
  const why = `the worker did not claim the run within ${OFFER_SECONDS} seconds`;
  await returnToQueue(head.run_id, head.execution_id, why, ports, "unstarted");
}

/** Requests offers of the runs that wait for a worker, of which a connection may be free. */
export async function wakeWorker(
  team: string,
  workerHost: string,
  ports: Pick<RunPorts, "table" | "queue" | "now">,
  delaySeconds?: number,
): Promise<void> {
  const [oldest] = await waitingRunStore(ports).oldest(team, workerHost, 1);
  if (oldest === undefined) return;
  await ports.queue.sendRun(oldest, { type: "Team", uid: team }, delaySeconds).catch(() => undefined);
}

/** Lets a worker that was at capacity have offers again, because a run that it executed has ended. */
export async function releaseWorker(ended: RunHead, ports: Pick<RunPorts, "table" | "queue" | "now">): Promise<void> {
  const { worker_host: workerHost, state } = ended;
  if (workerHost === undefined || !isTerminal(state)) return;
  const team = parseOwner(ended).uid;
  const store = workerStore(ports);
  const full = (await store.ofWorker(team, workerHost)).filter(
    ({ busy_until, unclaimed }) => busy_until > ports.now() && unclaimed === 0,
  );
  await Promise.all(full.map(({ connection_id: connectionId }) => store.unblock({ team, workerHost, connectionId })));
  await wakeWorker(team, workerHost, ports);
}
