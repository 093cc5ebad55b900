import { logLine } from "#shared/log/log.ts";
import { isStopAwaited, ownerOf, type PendingStop, type RunHead } from "#shared/records/run-head.ts";
import { type ChangePorts, changeRun } from "#shared/runs/change-run.ts";
import { type Change, STOP_ATTRIBUTES, sandboxUnchanged, stopsOf } from "#shared/runs/transition.ts";
import type { PlacedSandbox, Sandbox } from "#shared/sandbox/sandbox.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed } from "#shared/table/table.ts";

/** Milliseconds after which the reaper has a stop tried that no message has told of. */
const STOP_CHECK_MS = 5_000;

/**
 * Notes how the provider finds the sandbox of an execution again. Where the run has gone on without that execution meanwhile, the
 * sandbox is one to be stopped.
 */
export async function noteSandbox(runId: string, placed: PlacedSandbox, ports: ChangePorts): Promise<void> {
  const { provider, executionId, handle } = placed;
  if (handle === undefined) return;
  try {
    return await ports.table.write({
      kind: "update",
      key: keys.head(runId),
      set: { sandbox: { provider, handle } },
      add: { sandbox_changes: 1 },
      if: { execution_id: { eq: executionId }, state: { in: ["PENDING", "CLAIMED", "INPROGRESS"] } },
    });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
  const head = await ports.runs.head(runId);
  if (head === undefined) return;
  await changeRun(head, ports, (now) => ({
    change: {
      ...unseen(now),
      events: [],
      set: { stops: stopsOf(now, placed, ports.now()) },
      checkAt: ports.now() + STOP_CHECK_MS,
    },
    result: undefined,
  }));
  await ports.queue.sendEnd(runId, ownerOf(head)).catch(() => undefined);
}

/**
 * Stops the sandboxes that executions of the run have left behind. One that its provider does not know to be gone yet stays on the
 * head, and the reaper comes back to it; after ten minutes it is given up, and the log says so.
 */
export async function stopSandboxes(
  first: RunHead,
  ports: ChangePorts & { readonly sandbox: Pick<Sandbox, "stop"> },
): Promise<void> {
  const { stops = [] } = first;
  const gone = new Set<string>();
  const over = new Set<string>();
  for (const stop of stops) {
    if (await isGone(first.run_id, stop, ports.sandbox)) gone.add(stop.execution_id);
    else if (stop.by <= ports.now()) {
      over.add(stop.execution_id);
      // Without a handle nobody knows whether there ever was one.
      if (stop.handle !== undefined)
        logLine("error", "a sandbox could not be stopped", { run_id: first.run_id, ...stop });
    }
  }
  if (gone.size + over.size === 0) return;
  const confirms = await changeRun(first, ports, (head) => {
    const before = head.stops ?? [];
    const left = before.filter(({ execution_id }) => !gone.has(execution_id) && !over.has(execution_id));
    if (left.length === before.length) return { result: false };
    const awaited = head.execution_id !== undefined && gone.has(head.execution_id) && isStopAwaited(head);
    return { change: { ...unseen(head), ...stopped(left, awaited) }, result: awaited };
  });
  // The transcript is composed anew, so that it tells of the stop.
  if (confirms) await ports.queue.sendEnd(first.run_id, ownerOf(first)).catch(() => undefined);
}

/** The list of stops changes without an event, and so without a number of its own that others would be refused by. */
const unseen = (head: RunHead): Pick<Change, "add" | "if"> => ({
  add: { sandbox_changes: 1 },
  if: sandboxUnchanged(head),
});

async function isGone(runId: string, stop: PendingStop, sandbox: Pick<Sandbox, "stop">): Promise<boolean> {
  const { provider, execution_id, handle } = stop;
  try {
    return await sandbox.stop({ provider, executionId: execution_id, handle });
  } catch (error) {
    // It is asked again; the end of the run goes on meanwhile.
    logLine("warn", "a sandbox could not be asked to stop", { run_id: runId, provider, error });
    return false;
  }
}

const stopped = (left: readonly PendingStop[], confirms: boolean): Change => ({
  events: confirms ? [{ type: "run_stopped", data: { confirmed_by: "provider" } }] : [],
  ...(left.length === 0 ? {} : { set: { stops: left.map((stop) => ({ ...stop })) } }),
  remove: [...(left.length === 0 ? ["stops"] : []), ...(confirms ? STOP_ATTRIBUTES : [])],
});
