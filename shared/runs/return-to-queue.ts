import { failWaitingRun } from "./end-run.ts";
import { sendRequeued } from "./requeue-run.ts";
import type { RunPorts } from "./run-ports.ts";
import { RunChangedError } from "./run-store.ts";
import { type Change, EXECUTION_ATTRIBUTES } from "./transition.ts";

/** Milliseconds after which a run whose start was deferred is checked again. */
const DEFERRED_CHECK_MS = 5_000;
/** Consecutive starts of an environment's image without a call by the harness, after which the run ends. */
const MAX_SILENT_STARTS = 3;
const SILENT_IMAGE = `the environment's docker_image failed to start the harness ${MAX_SILENT_STARTS} times in a row: it must be public, support arm64 and include glibc`;

/** Returns a run whose sandbox did not start to the queue, for another start soon. */
export async function returnToQueue(
  runId: string,
  executionId: string,
  why: string,
  ports: RunPorts,
  start: Pick<Change, "unstarted"> = {},
): Promise<void> {
  const head = await ports.runs.head(runId);
  if (head?.state !== "PENDING" || head.execution_id !== executionId) return;
  const now = ports.now();
  // Only the environment's owner can fix an image.
  const silent = head.sandbox?.provider === "fargate" && start.unstarted !== true ? (head.silent_starts ?? 0) + 1 : 0;
  if (silent >= MAX_SILENT_STARTS) return failWaitingRun(runId, "environment_setup_failed", SILENT_IMAGE, ports);
  try {
    await ports.runs.change(
      head,
      {
        ...start,
        to: "QUEUED",
        events: [{ type: "run_queued", data: { state: "QUEUED", detail: why } }],
        ...(silent === 0 ? {} : { set: { silent_starts: silent } }),
        remove: EXECUTION_ATTRIBUTES,
        checkAt: now + DEFERRED_CHECK_MS,
      },
      now,
    );
  } catch (error) {
    // The execution has begun, or the run was cancelled, in the meantime.
    if (error instanceof RunChangedError) return;
    throw error;
  }
  await sendRequeued(head, ports);
}
