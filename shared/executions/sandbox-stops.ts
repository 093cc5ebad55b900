import { logLine } from "#shared/log/log.ts";
import { isStopAwaited, type PendingStop, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { type ChangePorts, changeRun } from "#shared/runs/change-run.ts";
import { type AttributeChange, addPendingStop, STOP_ATTRIBUTES, sandboxUnchanged } from "#shared/runs/transition.ts";
import { isWorker } from "#shared/sandbox/providers.ts";
import type { PlacedSandbox, Sandbox } from "#shared/sandbox/sandbox.ts";
import { cancelTask } from "#shared/workers/cancel-task.ts";
import type { OfferPorts } from "#shared/workers/worker-ports.ts";
import { putHandle } from "./sandbox-handle-store.ts";

/** Milliseconds after which the reaper retries a stop whose message was not sent. */
const STOP_CHECK_MS = 5_000;

/**
 * Records the handle by which the provider finds the sandbox of an execution. If the run has continued without that execution
 * meanwhile, the sandbox is scheduled to be stopped.
 */
export async function recordSandbox(runId: string, placed: PlacedSandbox, ports: ChangePorts): Promise<void> {
  const { handle } = placed;
  if (handle === undefined || (await putHandle(runId, { ...placed, handle }, ports.table))) return;
  const head = await ports.runs.head(runId);
  if (head === undefined) return;
  await changeRun(head, ports, (now) => ({
    change: {
      ...countSandboxChange(now),
      events: [],
      set: { stops: addPendingStop(now, placed, ports.now()) },
      checkAt: ports.now() + STOP_CHECK_MS,
    },
    result: undefined,
  }));
  await ports.queue.sendEnd(runId, parseOwner(head)).catch(() => undefined);
}

/**
 * Stops the sandboxes that past executions of the run have left behind. A sandbox stays on the head, and the reaper stops it again,
 * until its provider confirms that it is gone; after ten minutes the service gives up and logs an error.
 */
export async function stopSandboxes(
  first: RunHead,
  ports: OfferPorts & { readonly sandbox: Pick<Sandbox, "stop"> },
): Promise<void> {
  const { stops = [] } = first;
  const gone = new Set<string>();
  const over = new Set<string>();
  for (const stop of stops) {
    if (await isGone(first.run_id, stop, ports)) gone.add(stop.execution_id);
    else if (stop.by <= ports.now()) {
      over.add(stop.execution_id);
      // Without a handle, the sandbox may never have been created; and not every worker confirms a stop.
      if (stop.handle !== undefined && !isWorker(stop.provider))
        logLine("error", "a sandbox could not be stopped", { run_id: first.run_id, ...stop });
    }
  }
  await removeStops(first, gone, over, ports);
}

/** Takes executions off the list of those that have to be stopped. `gone`: their end is confirmed. */
export async function removeStops(
  first: RunHead,
  gone: ReadonlySet<string>,
  over: ReadonlySet<string>,
  ports: ChangePorts,
): Promise<void> {
  if (gone.size + over.size === 0) return;
  const confirms = await changeRun(first, ports, (head) => {
    const before = head.stops ?? [];
    const remainder = before.filter(({ execution_id }) => !gone.has(execution_id) && !over.has(execution_id));
    if (remainder.length === before.length) return { result: false };
    const awaited = head.execution_id !== undefined && gone.has(head.execution_id) && isStopAwaited(head);
    return { change: { ...countSandboxChange(head), ...toStopChange(remainder, awaited) }, result: awaited };
  });
  // The transcript is composed again, to include the stop.
  if (confirms) await ports.queue.sendEnd(first.run_id, parseOwner(first)).catch(() => undefined);
}

/** Counts a change of the list of stops, which has no event and therefore no sequence number that detects conflicts. */
const countSandboxChange = (head: RunHead): Pick<AttributeChange, "add" | "if"> => ({
  add: { sandbox_changes: 1 },
  if: sandboxUnchanged(head),
});

async function isGone(
  runId: string,
  stop: PendingStop,
  ports: OfferPorts & { readonly sandbox: Pick<Sandbox, "stop"> },
): Promise<boolean> {
  const { provider, execution_id, handle } = stop;
  try {
    if (isWorker(provider)) return await cancelTask(runId, stop, ports);
    return await ports.sandbox.stop({ provider, executionId: execution_id, handle });
  } catch (error) {
    // The stop is retried; the rest of the ending must not wait for it.
    logLine("warn", "stopping a sandbox failed", { run_id: runId, provider, error });
    return false;
  }
}

const toStopChange = (left: readonly PendingStop[], confirms: boolean): AttributeChange => ({
  events: confirms ? [{ type: "run_stopped", data: { confirmed_by: "provider" } }] : [],
  ...(left.length === 0 ? {} : { set: { stops: left.map((stop) => ({ ...stop })) } }),
  remove: [...(left.length === 0 ? (["stops"] as const) : []), ...(confirms ? STOP_ATTRIBUTES : [])],
});
