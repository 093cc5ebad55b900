import * as v from "valibot";
import { expireAtRestart, expireExecution } from "#shared/executions/expired-execution.ts";
import { finishExecution } from "#shared/executions/finish-task.ts";
import { removeStops } from "#shared/executions/sandbox-stops.ts";
import { isUuid } from "#shared/ids.ts";
import { logLine } from "#shared/log/log.ts";
import { statusText } from "#shared/records/run.ts";
import { type ExecutingHead, isExecutingHead, leaseMs, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { returnToQueue } from "#shared/runs/return-to-queue.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { type StartChange, sandboxUnchanged } from "#shared/runs/transition.ts";
import { MAX_FRAME_BYTES, type TaskFrame, WorkerFrame } from "#shared/wire/worker.ts";
import { isKeyValid, wakeWorker } from "#shared/workers/offer-run.ts";
import type { OfferPorts } from "#shared/workers/worker-ports.ts";
import { type ConnectionKey, toClaimWrites, workerStore } from "#shared/workers/worker-store.ts";

/** Milliseconds for which a connection that is at capacity gets no offer, unless a task of the worker ends before. */
const AT_CAPACITY_MS = 30_000;
/** A frame is recorded as a sign of presence if the last one is this old. */
const SEEN_MS = 60_000;

const Text = v.pipe(v.string(), v.maxBytes(MAX_FRAME_BYTES), v.parseJson(), WorkerFrame);

/**
 * Handles a frame of a worker. Frames that cannot be read, and those about runs that are not this worker's, are ignored without a
 * response, so that nothing can be learned from one.
 */
export async function receiveFrame(connectionId: string, text: string, ports: OfferPorts): Promise<void> {
  const found = await workerStore(ports).find(connectionId);
  if (found === undefined || !(await isKeyValid(found.connection.key_hash, found.key.team, ports))) {
    if (found !== undefined) await workerStore(ports).forget(found.key);
    return ports.sockets.close(connectionId);
  }
  const { key, connection } = found;
  if (ports.now() - connection.last_seen_at > SEEN_MS) await workerStore(ports).noteSeen(key);
  const parsed = v.safeParse(Text, text);
  if (!parsed.success) return logLine("info", "a frame of a worker was ignored", { connection_id: connectionId });
  const frame = parsed.output;
  if (frame.type === "worker_draining") return void (await workerStore(ports).drain(key));
  const head = await findRun(frame.data.task_id, key, ports);
  if (head === undefined) return;
  logLine("info", "frame of a worker", { type: frame.type, run_id: head.run_id, connection_id: connectionId });
  // A worker of another kind reports a shutdown only by the ends of its tasks.
  if (isShutdown(frame)) await workerStore(ports).drain(key);
  await handleFrame(frame, head, key, ports);
}

/** Finds the run of a frame, if it is one of the worker's team and named for the worker. */
async function findRun(
  taskId: string,
  { team, workerHost }: ConnectionKey,
  ports: OfferPorts,
): Promise<RunHead | undefined> {
  const head = isUuid(taskId) ? await ports.runs.head(taskId) : undefined;
  if (head === undefined || head.worker_host !== workerHost) return undefined;
  const owner = parseOwner(head);
  return owner.type === "Team" && owner.uid === team ? head : undefined;
}

/** Whether a task failed because its worker shuts down: its run may succeed in another execution. */
const isShutdown = (frame: TaskFrame): boolean =>
  frame.type === "task_failed" && frame.data.failure_reason === "graceful_shutdown";

async function handleFrame(frame: TaskFrame, head: RunHead, key: ConnectionKey, ports: OfferPorts): Promise<void> {
  const current = await findExecution(head, frame.data.execution_id, key, ports);
  if (frame.type === "task_claimed") {
    return current === undefined ? refuseClaim(frame, head, key, ports) : claimRun(current, key, ports);
  }
  if (frame.type === "task_rejected") return rejectOffer(frame, current, key, ports);
  if (current === undefined) await confirmStops(head, frame.data.execution_id, ports);
  else await endTask(frame, current, ports);
  // The worker has room again.
  await unblockWorker(key, ports);
}

/**
 * The run's execution, if the frame is about it. A frame that names no execution is about the one that was offered to its connection,
 * or to a connection of the worker that is closed: a worker that connects again reports what it began before.
 */
async function findExecution(
  head: RunHead,
  executionId: string | undefined,
  { connectionId }: ConnectionKey,
  ports: OfferPorts,
): Promise<ExecutingHead | undefined> {
  if (!isExecutingHead(head) || head.sandbox?.provider !== "worker") return undefined;
  if (executionId !== undefined) return executionId === head.execution_id ? head : undefined;
  const { handle } = head.sandbox;
  if (handle === connectionId) return head;
  if (head.state === "PENDING" || handle === undefined) return undefined;
  return (await workerStore(ports).find(handle)) === undefined ? head : undefined;
}

async function claimRun(head: ExecutingHead, key: ConnectionKey, ports: OfferPorts): Promise<void> {
  const now = ports.now();
  if (head.state === "PENDING") {
    const claimed: RunHead = { ...head, state: "CLAIMED" };
    // A worker may have connected again since the run was offered.
    const isSame = head.sandbox?.handle === key.connectionId;
    const change: StartChange = {
      to: "CLAIMED",
      events: [{ type: "run_claimed", data: { state: "CLAIMED", worker_host: key.workerHost } }],
      set: { state_since: now, heartbeat_at: now, ...(isSame ? {} : { sandbox: toSandbox(key) }) },
      checkAt: now + leaseMs(claimed),
      ...(isSame ? { also: toClaimWrites(key) } : { add: { sandbox_changes: 1 }, if: sandboxUnchanged(head) }),
    };
    try {
      await ports.runs.change(head, change, now);
    } catch (error) {
      if (!(error instanceof RunChangedError)) throw error;
      // The run was cancelled or has begun meanwhile.
      await workerStore(ports).release(key, head.execution_id);
    }
  } else {
    // The execution was faster than the claim.
    await workerStore(ports).release(key, head.execution_id);
  }
  await wakeWorker(key.team, key.workerHost, ports);
}

const toSandbox = ({ connectionId }: ConnectionKey) => ({ provider: "worker", handle: connectionId }) as const;

/** Asks a worker that claims too late, or twice, to stop: the run has another execution, or has ended. */
async function refuseClaim(frame: TaskFrame, head: RunHead, key: ConnectionKey, ports: OfferPorts): Promise<void> {
  const { task_id, execution_id } = frame.data;
  // Two executions of a run at the same connection cannot be distinguished without their ids.
  const isOwn = isExecutingHead(head) && head.sandbox?.handle === key.connectionId;
  if (isOwn && execution_id === undefined) return;
  const data = { task_id, ...(execution_id === undefined ? {} : { execution_id }) };
  await ports.sockets.post(key.connectionId, JSON.stringify({ type: "task_cancellation", data }));
}

async function rejectOffer(
  frame: Extract<TaskFrame, { type: "task_rejected" }>,
  head: ExecutingHead | undefined,
  key: ConnectionKey,
  ports: OfferPorts,
): Promise<void> {
  if (head?.state !== "PENDING") return;
  await workerStore(ports).block(key, ports.now() + AT_CAPACITY_MS);
  const why = statusText(`the worker rejected the run: ${frame.data.reason || "no reason given"}`);
  await returnToQueue(head.run_id, head.execution_id, why, ports, "unstarted");
}

/** Failures before the agent began. */
const NOT_STARTED = new Set(["dispatch_command", "dispatch_timeout"]);

async function endTask(
  frame: Extract<TaskFrame, { type: "task_completed" | "task_failed" }>,
  head: ExecutingHead,
  ports: OfferPorts,
): Promise<void> {
  const summary = statusText(frame.data.message ?? "");
  if (head.state === "PENDING" && frame.data.execution_id === undefined) {
    // Without a claim, only a failure has a meaning: the frame may be that of an earlier execution.
    if (frame.type === "task_completed") return;
    return returnToQueue(head.run_id, head.execution_id, `the worker failed: ${summary}`, ports, "unstarted");
  }
  if (frame.type === "task_completed") {
    // The service cancels a run itself; a worker that cancels a task gives it up.
    if (frame.data.task_state === "CANCELLED") return lose(head, `the worker cancelled the task: ${summary}`, ports);
    return finish(head, { success: true, summary }, ports);
  }
  const { failure_reason: reason, exit_code: code } = frame.data;
  if (isShutdown(frame)) {
    await expireAtRestart(head, head.execution_id, ports, statusText(`the worker shut down: ${summary}`));
    return;
  }
  const details = [reason, code === undefined ? undefined : `exit code ${code}`].filter((one) => one !== undefined);
  const what = details.length === 0 ? "" : ` (${details.join(", ")})`;
  const failure = { success: false, summary: statusText(`the worker ${head.worker_host} failed${what}: ${summary}`) };
  const isSetup = reason !== undefined && NOT_STARTED.has(reason);
  return finish(head, isSetup ? { ...failure, error_code: "environment_setup_failed" } : failure, ports);
}

type Outcome = Parameters<typeof finishExecution>[1];

/** Ends the run, unless its harness has ended it, or it was cancelled, at the same time. */
const finish = (head: ExecutingHead, outcome: Outcome, ports: OfferPorts): Promise<void> =>
  finishExecution(head, outcome, ports).then(
    () => undefined,
    (error: unknown) => logLine("info", "a frame of a worker came too late", { run_id: head.run_id, error }),
  );

async function lose(head: ExecutingHead, why: string, ports: OfferPorts): Promise<void> {
  await expireExecution(head, head.execution_id, statusText(why), ports);
}

/** A worker that reports an execution which the run does not have any more has stopped it. */
async function confirmStops(head: RunHead, executionId: string | undefined, ports: OfferPorts): Promise<void> {
  const stops = (head.stops ?? []).filter(
    ({ provider, execution_id }) =>
      provider === "worker" && (executionId === undefined || execution_id === executionId),
  );
  await removeStops(head, new Set(stops.map(({ execution_id }) => execution_id)), new Set(), ports);
}

/** Lets a worker have offers again, after a task of it has ended. */
async function unblockWorker(key: ConnectionKey, ports: OfferPorts): Promise<void> {
  await workerStore(ports).unblock(key);
  await wakeWorker(key.team, key.workerHost, ports);
}
