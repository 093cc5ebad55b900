import { LEASE_SECONDS } from "#shared/records/run.ts";
import { type ExecutingHead, parseOwner, providerOf, type RunHead } from "#shared/records/run-head.ts";
import { countRunTime } from "#shared/records/run-time.ts";
import { isStoppable } from "#shared/sandbox/providers.ts";
import type { ChangePorts } from "./change-run.ts";
import { type EndChange, EXECUTION_ATTRIBUTES, type TimelineEntry } from "./transition.ts";

/** Builds the change that ends an execution and queues its run for a new one. */
export function toRequeueChange(head: ExecutingHead, event: TimelineEntry, now: number) {
  return {
    to: "QUEUED",
    events: [event],
    set: countRunTime(head, now),
    remove: EXECUTION_ATTRIBUTES,
    checkAt: now + LEASE_SECONDS * 1000,
  } as const satisfies EndChange;
}

/**
 * Requests the dispatch of a run that was queued again, the stop of its previous sandbox if the provider can stop it, and a look at what the
 * execution has uploaded. The reaper repeats the first two; the end of the run repeats the third.
 */
export async function sendRequeued(left: RunHead, { queue }: Pick<ChangePorts, "queue">): Promise<void> {
  await queue.sendRun(left.run_id, parseOwner(left)).catch(() => undefined);
  const hasUploads = left.placed_artifacts > left.artifacts;
  if (isStoppable(providerOf(left)) || hasUploads)
    await queue.sendEnd(left.run_id, parseOwner(left)).catch(() => undefined);
}
