import { type Checkpoint, checkpointOf, putCheckpoint, resetToCheckpoint } from "#shared/records/checkpoint.ts";
import { isTerminal, MAX_LOSSES, statusText } from "#shared/records/run.ts";
import {
  type ExecutingHead,
  isExecutingHead,
  isLocal,
  isStopAwaited,
  ownerOf,
  type RunHead,
} from "#shared/records/run-head.ts";
import { type ChangePorts, changeRun, staleExecutionError } from "#shared/runs/change-run.ts";
import { toEndChange } from "#shared/runs/end-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { sendRequeued, toRequeueChange } from "#shared/runs/requeue-run.ts";
import { type Change, STOP_ATTRIBUTES, type TimelineEntry } from "#shared/runs/transition.ts";
import { type ReportShutdownRequest, SLICE_ENDED } from "#shared/wire/harness.ts";

/** report-shutdown: a cancelled run's sandbox has stopped, or an execution ended without finishing. */
export async function shutDown(
  first: RunHead,
  executionId: string,
  request: ReportShutdownRequest,
  ports: RunPorts,
): Promise<void> {
  if (isTerminal(first.state)) return confirmStop(first, executionId, "harness", ports);
  const { error } = request;
  if (error?.category === SLICE_ENDED && (await endSlice(first, executionId, ports))) return;
  const why = error === undefined ? "the sandbox shut down" : `${error.category}: ${error.message}`;
  if (await expireExecution(first, executionId, why, ports)) return;
  // It was cancelled just now, or is another's by now.
  const head = await ports.runs.head(first.run_id);
  if (head === undefined || !isStopAwaited(head) || head.execution_id !== executionId) throw staleExecutionError();
  if (!("key_hash" in head) || head.key_hash === undefined) throw staleExecutionError();
  await confirmStop(head, executionId, "harness", ports);
}

/**
 * An execution has come to the end of its time right behind its checkpoint: the run keeps its slot and goes on from there in a
 * new one. False where it has committed none, which is a loss like any other.
 */
async function endSlice(first: RunHead, executionId: string, ports: ChangePorts): Promise<boolean> {
  const now = ports.now();
  const done = await changeRun(first, ports, async (head) => {
    if (!isExecutingHead(head) || head.execution_id !== executionId || isLocal(head)) return { result: false };
    const checkpoint = await checkpointOf(head, ports);
    if (checkpoint.execution_id !== executionId) return { result: false };
    const detail = "the execution's time was over: the run goes on from its checkpoint";
    const again = requeued(head, checkpoint, now, { type: "run_queued", data: { state: "QUEUED", detail } });
    return { change: { ...again, set: { ...again.set, sliced: true }, keepsSlot: true }, result: true };
  });
  if (done) await sendRequeued(first, ports);
  return done;
}

/** The run waits for a new execution, which goes on from the checkpoint; what was said and taken up after it is left behind. */
function requeued(head: ExecutingHead, checkpoint: Checkpoint, now: number, event: TimelineEntry): Change {
  const left = resetToCheckpoint(checkpoint, head);
  const queued = toRequeueChange(head, event, now);
  return {
    ...queued,
    set: {
      ...queued.set,
      followups_stored: Math.min(head.followups_stored, checkpoint.followups),
      ...(left === undefined ? {} : { checkpoint: true }),
    },
    also: left === undefined ? [] : [putCheckpoint(head.run_id, left)],
  };
}

/** The cancelled run's sandbox is known to be gone; `by` tells by whose word. */
export async function confirmStop(
  first: RunHead,
  executionId: string,
  by: "harness" | "timeout",
  ports: RunPorts,
): Promise<void> {
  await changeRun(first, ports, (head) => {
    if (!isStopAwaited(head) || head.execution_id !== executionId) return { result: undefined };
    return {
      change: {
        events: [{ type: "run_stopped", data: { confirmed_by: by } }],
        remove: STOP_ATTRIBUTES,
      },
      result: undefined,
    };
  });
  // The transcript is composed anew, so that it tells of the stop.
  await ports.queue.sendEnd(first.run_id, ownerOf(first)).catch(() => undefined);
}

/**
 * An execution is lost: the run waits for a new one, or ends in ERROR after too many losses in a row. Where `silentSince`
 * is given, a beat after it saves the execution. Answers false where it was none to lose.
 */
export async function expireExecution(
  first: RunHead,
  executionId: string,
  why: string,
  ports: RunPorts,
  silentSince?: number,
): Promise<boolean> {
  const now = ports.now();
  const outcome = await changeRun<"none" | "again" | "ended">(first, ports, async (head) => {
    if (!isExecutingHead(head) || head.execution_id !== executionId) return { result: "none" };
    if (silentSince !== undefined && head.heartbeat_at !== silentSince) return { result: "none" };
    const still = silentSince === undefined ? {} : { if: { heartbeat_at: { eq: silentSince } } };
    if (isLocal(head)) {
      const message = statusText(`the run's caller, who executes it, was lost: ${why}`);
      return { change: { ...toEndChange(head, { state: "FAILED", now, message }), ...still }, result: "ended" };
    }
    const losses = head.losses + 1;
    const lost = { type: "execution_lost" as const, data: { detail: statusText(why), losses } };
    if (losses >= MAX_LOSSES) {
      const end = toEndChange(head, {
        state: "ERROR",
        now,
        code: "resource_unavailable",
        message: statusText(`the execution was lost ${losses} times in a row: ${why}`),
      });
      return {
        change: { ...end, ...still, events: [lost, ...end.events], set: { ...end.set, losses } },
        result: "ended",
      };
    }
    const event = { ...lost, data: { ...lost.data, state: "QUEUED" } };
    const again = requeued(head, await checkpointOf(head, ports), now, event);
    return { change: { ...again, ...still, set: { ...again.set, losses } }, result: "again" };
  });
  if (outcome === "again") await sendRequeued(first, ports);
  if (outcome === "ended") await ports.queue.sendEnd(first.run_id, ownerOf(first)).catch(() => undefined);
  return outcome !== "none";
}
