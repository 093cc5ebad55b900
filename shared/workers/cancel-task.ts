import { isExecutingHead, type PendingStop, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import type { TaskCancellation } from "#shared/wire/worker.ts";
import type { OfferPorts } from "./worker-ports.ts";
import { workerStore } from "./worker-store.ts";

type CancelPorts = Pick<OfferPorts, "table" | "now" | "runs" | "sockets">;

/**
 * Asks a worker to stop an earlier execution of a run, repeatedly until it confirms the stop or the time is up, because it may
 * connect again meanwhile.
 * @returns true if the worker needs no further request: it executes the run again
 */
export async function cancelTask(runId: string, stop: PendingStop, ports: CancelPorts): Promise<boolean> {
  const head = await ports.runs.head(runId);
  if (head === undefined || (isExecutingHead(head) && head.execution_id !== stop.execution_id)) return true;
  await postCancellation(head, stop, ports);
  return false;
}

/** Sends the cancellation to the connection of the execution; where it is closed, to all connections of the worker. */
export async function postCancellation(head: RunHead, stop: PendingStop, ports: CancelPorts): Promise<void> {
  const frame: TaskCancellation = {
    type: "task_cancellation",
    data: { task_id: head.run_id, execution_id: stop.execution_id },
  };
  const text = JSON.stringify(frame);
  if (head.worker_host === undefined) return;
  const store = workerStore(ports);
  const team = parseOwner(head).uid;
  if (stop.handle !== undefined && (await ports.sockets.post(stop.handle, text))) {
    await store.release({ team, workerHost: head.worker_host, connectionId: stop.handle }, stop.execution_id);
    return;
  }
  const others = await store.ofWorker(team, head.worker_host);
  await Promise.allSettled(others.map(({ connection_id }) => ports.sockets.post(connection_id, text)));
}
