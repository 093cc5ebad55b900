import { randomInt } from "node:crypto";
import { logLine } from "#shared/log/log.ts";
import { type ExecutingHead, parseOwner, providerOf, type RunHead } from "#shared/records/run-head.ts";
import { PROVIDERS } from "#shared/sandbox/providers.ts";
import { failByPlatform, failWaitingRun } from "./end-run.ts";
import { sendRequeued } from "./requeue-run.ts";
import type { RunPorts } from "./run-ports.ts";
import { RunChangedError } from "./run-store.ts";
import { type EndChange, EXECUTION_ATTRIBUTES } from "./transition.ts";

/** The delay of the first deferred start. Each further one doubles it, up to the longest. */
const FIRST_DELAY_SECONDS = 5;
const MAX_DELAY_SECONDS = 60;
/** Milliseconds after the planned start at which the reaper requests the dispatch, if the message was lost. */
const LATE_MS = 60_000;

/** Milliseconds after which a run whose sandbox was silent is checked again. */
const SILENT_CHECK_MS = 5_000;
/** Consecutive starts that the provider refused with an error that is no deferral, after which the run ends. */
const MAX_FAILED_STARTS = 5;
/** Consecutive starts of a sandbox without a call by the harness, after which the run ends. */
const MAX_SILENT_STARTS = 3;
const SILENT_SANDBOX = `the sandbox was started ${MAX_SILENT_STARTS} times in a row and sent no request`;
const SILENT_IMAGE = `the environment's docker_image failed to start the harness ${MAX_SILENT_STARTS} times in a row: it must be public, support arm64 and include glibc`;

/**
 * Returns a run whose sandbox was started and sent no request to the queue, for another start immediately. After some such starts the
 * run ends. An execution whose sandbox was never started, such as an offer that a worker refuses, is not counted.
 */
export async function returnToQueue(
  runId: string,
  executionId: string,
  why: string,
  ports: RunPorts,
  executionEnd?: "unstarted",
): Promise<void> {
  const head = await ports.runs.head(runId);
  if (head?.state !== "PENDING" || head.execution_id !== executionId) return;
  const now = ports.now();
  const silent = executionEnd === "unstarted" ? 0 : (head.silent_starts ?? 0) + 1;
  if (silent >= MAX_SILENT_STARTS) return endSilentRun(head, ports);
  const set = silent === 0 ? {} : { silent_starts: silent };
  const change = { ...(executionEnd && { executionEnd }), set, checkAt: now + SILENT_CHECK_MS };
  if (await queueAgain(head, why, change, ports)) await sendRequeued(head, ports);
}

/** Ends a run whose sandboxes send no request: FAILED if its environment has an image of its own, which only the owner can fix. */
async function endSilentRun(head: ExecutingHead, ports: RunPorts): Promise<void> {
  const runId = head.run_id;
  if (PROVIDERS[providerOf(head)].takesImage)
    return failWaitingRun(runId, "environment_setup_failed", SILENT_IMAGE, ports);
  // The provider accepted the starts, so nothing else reports that they fail.
  logLine("error", "sandboxes send no request", { run_id: runId, startFailed: true });
  return failByPlatform(runId, SILENT_SANDBOX, ports);
}

/**
 * Returns a run whose sandbox was not started to the queue, for another start after a delay that grows. A deferred start is repeated
 * without end; after some that failed, the run ends.
 */
export async function deferStart(
  runId: string,
  executionId: string,
  { hasFailed }: { readonly hasFailed: boolean },
  ports: RunPorts,
): Promise<void> {
  const head = await ports.runs.head(runId);
  if (head?.state !== "PENDING" || head.execution_id !== executionId) return;
  const failed = (head.failed_starts ?? 0) + Number(hasFailed);
  if (failed >= MAX_FAILED_STARTS) return failByPlatform(runId, "the run could not be dispatched", ports);
  const { delaySeconds, count, checkAt } = planDeferral(head, ports.now());
  const set = { deferred_starts: count, ...(hasFailed && { failed_starts: failed }) };
  const why = "the sandbox could not be started";
  const isQueued = await queueAgain(head, why, { set, checkAt, executionEnd: "unstarted" }, ports);
  if (isQueued) await sendDeferred(head, delaySeconds, ports);
}

/** Moves a PENDING run to QUEUED. Returns false where its execution has begun, or it was cancelled, in the meantime. */
async function queueAgain(
  head: RunHead,
  why: string,
  change: Pick<EndChange, "set" | "checkAt" | "executionEnd">,
  ports: RunPorts,
): Promise<boolean> {
  const events = [{ type: "run_queued", data: { state: "QUEUED", detail: why } }] as const;
  try {
    await ports.runs.change(head, { ...change, to: "QUEUED", events, remove: EXECUTION_ATTRIBUTES }, ports.now());
    return true;
  } catch (error) {
    if (error instanceof RunChangedError) return false;
    throw error;
  }
}

/** When a run whose start is deferred is dispatched again. */
interface Deferral {
  readonly delaySeconds: number;
  /** The number of consecutive deferrals, this one included. */
  readonly count: number;
  /** When the reaper checks the run. */
  readonly checkAt: number;
}

/** Plans the next start of a run. Random delays keep runs that were deferred together from starting together. */
function planDeferral(head: RunHead, now: number): Deferral {
  const count = (head.deferred_starts ?? 0) + 1;
  const longest = Math.min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** Math.min(count - 1, 10));
  const delaySeconds = randomInt(Math.ceil(longest / 2), longest + 1);
  return { delaySeconds, count, checkAt: now + delaySeconds * 1000 + LATE_MS };
}

/** Requests the dispatch of a run after a delay. The reaper does it if this fails. */
const sendDeferred = (head: RunHead, delaySeconds: number, { queue }: Pick<RunPorts, "queue">): Promise<void> =>
  queue.sendRun(head.run_id, parseOwner(head), delaySeconds).catch(() => undefined);
