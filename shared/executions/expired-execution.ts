import { type Checkpoint, loadCheckpoint, putCheckpoint, resetToCheckpoint } from "#shared/records/checkpoint.ts";
import { isTerminal, MAX_LOSSES, MAX_RESTARTS, statusText } from "#shared/records/run.ts";
import {
  type ExecutingHead,
  isExecutingHead,
  isLocal,
  isStopAwaited,
  parseOwner,
  providerOf,
  type RunHead,
} from "#shared/records/run-head.ts";
import { type ChangePorts, changeRun, staleExecutionError } from "#shared/runs/change-run.ts";
import { toEndChange } from "#shared/runs/end-run.ts";
import { sendRequeued, toRequeueChange } from "#shared/runs/requeue-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { type EndChange, STOP_ATTRIBUTES, type TimelineEntry } from "#shared/runs/transition.ts";
import { findIdleEnding, toTurnEnd } from "#shared/runs/turns/idle-run.ts";
import { isWorker } from "#shared/sandbox/providers.ts";
import type { Conditions } from "#shared/table/table.ts";
import { type ReportShutdownRequest, SLICE_ENDED } from "#shared/wire/harness.ts";

/** Records that the sandbox of a cancelled run has stopped, or that an execution has ended without finishing. */
export async function recordShutdown(
  first: RunHead,
  executionId: string,
  request: ReportShutdownRequest,
  ports: RunPorts,
): Promise<void> {
  if (isTerminal(first.state)) return confirmStop(first, executionId, "harness", ports);
  const { error } = request;
  if (error?.category === SLICE_ENDED && (await endSlice(first, executionId, ports))) return;
  const why = error === undefined ? "the sandbox shut down" : `${error.category}: ${error.message}`;
  // The harness of a worker is asked to end when its worker shuts down.
  const isWorkerShutdown = error?.category === "shutdown" && isAtWorker(first);
  const isExpired = isWorkerShutdown
    ? await expireAtRestart(first, executionId, ports, why)
    : await expireExecution(first, executionId, why, ports);
  if (isExpired) return;
  // The run was cancelled, or has another execution, in the meantime.
  const head = await ports.runs.head(first.run_id);
  if (head === undefined || !isStopAwaited(head) || head.execution_id !== executionId) throw staleExecutionError();
  if (!("key_hash" in head) || head.key_hash === undefined) throw staleExecutionError();
  await confirmStop(head, executionId, "harness", ports);
}

/**
 * Ends an execution that reached its time limit right after its checkpoint: the run keeps its slot and continues in a new
 * execution. Returns false if the execution has committed no checkpoint; then it is lost like any other.
 */
async function endSlice(first: RunHead, executionId: string, ports: ChangePorts): Promise<boolean> {
  const now = ports.now();
  const done = await changeRun(first, ports, async (head) => {
    if (!isExecutingHead(head) || head.execution_id !== executionId) return { result: false };
    if (isLocal(head) || head.failing !== undefined) return { result: false };
    const checkpoint = await loadCheckpoint(head, ports);
    if (checkpoint.execution_id !== executionId) return { result: false };
    const detail = "the execution reached its time limit: the run continues from its checkpoint";
    const resume = toResumeChange(head, checkpoint, now, { type: "run_queued", data: { state: "QUEUED", detail } });
    return {
      change: { ...resume, set: { ...resume.set, sliced: true }, keepsSlot: true, executionEnd: "itself" },
      result: true,
    };
  });
  if (done) await sendRequeued(first, ports);
  return done;
}

/** Queues the run for a new execution that continues from the checkpoint; later messages and follow-ups are reset. */
function toResumeChange(head: ExecutingHead, checkpoint: Checkpoint, now: number, event: TimelineEntry): EndChange {
  const resetCheckpoint = resetToCheckpoint(checkpoint, head);
  const queued = toRequeueChange(head, event, now);
  return {
    ...queued,
    set: {
      ...queued.set,
      followups_stored: Math.min(head.followups_stored, checkpoint.followups),
      ...(resetCheckpoint === undefined ? {} : { checkpoint: true }),
    },
    also: { checkpoint: resetCheckpoint === undefined ? undefined : putCheckpoint(head.run_id, resetCheckpoint) },
  };
}

/** Records that the sandbox of a cancelled run has stopped; `by` is the source of the information. */
export async function confirmStop(
  first: RunHead,
  executionId: string,
  by: "harness" | "provider" | "timeout",
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
  // The transcript is composed again, to include the stop.
  await ports.queue.sendEnd(first.run_id, parseOwner(first)).catch(() => undefined);
}

/**
 * Expires an execution: the run waits for a new one, or ends in ERROR after too many consecutive losses. A heartbeat after
 * `silentSince`, if given, keeps the execution.
 * @returns false if the execution is not expired
 */
export function expireExecution(
  first: RunHead,
  executionId: string,
  why: string,
  ports: RunPorts,
  silentSince?: number,
): Promise<boolean> {
  return expire(first, executionId, { why, silentSince, isRestart: false }, ports);
}

/** Expires an execution that ended with a restart of the service or of its worker; the run's own losses are not counted for it. */
export function expireAtRestart(
  first: RunHead,
  executionId: string,
  ports: RunPorts,
  why = "the service was restarted",
): Promise<boolean> {
  return expire(first, executionId, { why, silentSince: undefined, isRestart: true }, ports);
}

const isAtWorker = (head: RunHead): boolean => isWorker(providerOf(head));

interface Expiry {
  readonly why: string;
  readonly silentSince: number | undefined;
  readonly isRestart: boolean;
}

async function expire(
  first: RunHead,
  executionId: string,
  { why, silentSince, isRestart }: Expiry,
  ports: RunPorts,
): Promise<boolean> {
  const now = ports.now();
  const outcome = await changeRun<"none" | "again" | "ended">(first, ports, async (head) => {
    if (!isExecutingHead(head) || head.execution_id !== executionId) return { result: "none" };
    if (silentSince !== undefined && head.heartbeat_at !== silentSince) return { result: "none" };
    const still: Conditions = silentSince === undefined ? {} : { heartbeat_at: { eq: silentSince } };
    // A failing run ends with its failure instead of this message.
    if (isLocal(head) || head.failing !== undefined) {
      const message = statusText(`the caller that executes the run was lost: ${why}`);
      const end = toEndChange(head, { state: "FAILED", now, message });
      return { change: { ...end, if: { ...end.if, ...still } }, result: "ended" };
    }
    // Its turn has ended, and a follow-up continues it in a new execution.
    const idleEnding = findIdleEnding(head);
    if (idleEnding !== undefined) {
      const end = toTurnEnd(head, idleEnding, now);
      return { change: { ...end, if: { ...end.if, ...still } }, result: "ended" };
    }
    const { counted, losses, isLast } = countLoss(head, isRestart);
    const lost = { type: "execution_lost" as const, data: { detail: statusText(why), losses } };
    if (isLast) {
      const end = toEndChange(head, {
        state: "ERROR",
        now,
        code: "resource_unavailable",
        message: statusText(`the execution was lost ${losses} times in a row: ${why}`),
      });
      return {
        change: {
          ...end,
          if: { ...end.if, ...still },
          events: [lost, ...end.events],
          set: { ...end.set, ...counted },
        },
        result: "ended",
      };
    }
    const event = { ...lost, data: { ...lost.data, state: "QUEUED" } };
    const resume = toResumeChange(head, await loadCheckpoint(head, ports), now, event);
    return { change: { ...resume, if: still, set: { ...resume.set, ...counted } }, result: "again" };
  });
  if (outcome === "again") await sendRequeued(first, ports);
  if (outcome === "ended") await ports.queue.sendEnd(first.run_id, parseOwner(first)).catch(() => undefined);
  return outcome !== "none";
}

/** Counts a loss with those of its kind; `losses` is their number since the last checkpoint. */
function countLoss(head: ExecutingHead, isRestart: boolean) {
  if (isRestart) {
    const restarts = (head.restarts ?? 0) + 1;
    return { counted: { restarts }, losses: restarts, isLast: restarts >= MAX_RESTARTS };
  }
  const losses = head.losses + 1;
  return { counted: { losses }, losses, isLast: losses >= MAX_LOSSES };
}
