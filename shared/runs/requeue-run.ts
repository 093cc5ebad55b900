import { LEASE_SECONDS } from "#shared/records/run.ts";
import { type ExecutingHead, ownerOf, type RunHead } from "#shared/records/run-head.ts";
import type { ChangePorts } from "./change-run.ts";
import { workedMs } from "./end-run.ts";
import { type Change, EXECUTION_ATTRIBUTES, type TimelineEntry } from "./transition.ts";

/** The execution is over, and the run waits for a new one. */
export function toRequeueChange(head: ExecutingHead, event: TimelineEntry, now: number) {
  return {
    to: "QUEUED",
    events: [event],
    set: { run_time_ms: head.run_time_ms + workedMs(head, now) },
    remove: EXECUTION_ATTRIBUTES,
    checkAt: now + LEASE_SECONDS * 1000,
  } as const satisfies Change;
}

/**
 * Tells the queues of a run that waits for a new execution: it is to be dispatched, and the sandbox of the one before to be stopped,
 * where its provider can do so. The reaper repeats both.
 */
export async function sendRequeued(left: RunHead, { queue }: Pick<ChangePorts, "queue">): Promise<void> {
  await queue.sendRun(left.run_id, ownerOf(left)).catch(() => undefined);
  if ("sandbox" in left) await queue.sendEnd(left.run_id, ownerOf(left)).catch(() => undefined);
}
