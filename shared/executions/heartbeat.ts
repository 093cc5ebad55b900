import type * as v from "valibot";
import { isWatched } from "#shared/conversations/live-output.ts";
import { readFollowups } from "#shared/conversations/read-followups.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { findNextFollowup } from "#shared/records/pending-followups.ts";
import { heartbeatSeconds } from "#shared/records/run.ts";
import { type ExecutingHead, findPendingInterrupt, isExecutingHead } from "#shared/records/run-head.ts";
import { attemptOnHead } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { HeartbeatRequest, HeartbeatResponse } from "#shared/wire/harness.ts";
import { assertHarnessInstance, assertSameExecution, authorizeExecution } from "./execution-access.ts";

/**
 * A heartbeat is written if the last one is this old: each one of an unwatched execution, every other one of a watched one. So two more
 * may be missed before the lease expires.
 */
const WRITE_AFTER_MS = heartbeatSeconds(false) * 1000 - 1000;

/** Records a heartbeat and the follow-ups that the execution has stored. The response asks a cancelled execution to stop. */
export async function recordHeartbeat(
  principal: Principal,
  header: (name: string) => string | undefined,
  request: v.InferOutput<typeof HeartbeatRequest>,
  ports: RunPorts,
): Promise<HeartbeatResponse> {
  const response = { followups: [], cancel: false, next_heartbeat_seconds: heartbeatSeconds(false) };
  if (principal.kind === "run" && principal.stopping) {
    assertHarnessInstance(principal.head, header);
    return { ...response, cancel: true };
  }
  const head = await authorizeExecution(principal, header, ports);
  assertSameExecution(head, request.execution_id);
  if (request.followups_stored > head.followups) {
    throw invalid("followups_stored", `there are ${head.followups} follow-ups`);
  }
  const stored = Math.max(request.followups_stored, head.followups_stored);
  if (head.state === "PENDING")
    throw new RunyardError("conflict", { detail: "call resolve-prompt first", retryable: false });
  const { interrupts_handled: handled = 0 } = request;
  const isHandled = handled > head.interrupts_handled && handled <= (head.interrupt?.number ?? 0);
  const now = ports.now();
  const watched = isWatched(head, now);
  const { takes_after } = request;
  const delivery = takes_after === undefined ? undefined : await takeFollowup(head, stored, takes_after, ports);
  if (delivery !== undefined) {
    const followups = await readFollowups(delivery.head, stored, ports);
    const found = followups.find(({ number }) => number === delivery.number) ?? null;
    return { ...response, watched, next_heartbeat_seconds: heartbeatSeconds(watched), followups, taken: found };
  }
  // This call has just read the head, so a recent heartbeat need not be written again.
  const isRecent =
    head.state === "INPROGRESS" &&
    now - head.heartbeat_at < WRITE_AFTER_MS &&
    stored === head.followups_stored &&
    !isHandled;
  const acknowledged = { followups_stored: stored, ...(isHandled ? { interrupts_handled: handled } : {}) };
  const alive = isRecent || (await ports.runs.recordHeartbeat(head.run_id, head.execution_id, now, acknowledged));
  // The run has continued without this execution: the next heartbeat shows how.
  if (!alive) return { ...response, next_heartbeat_seconds: 1 };
  const none = takes_after === undefined ? {} : { taken: null };
  const pending = isHandled ? undefined : findPendingInterrupt(head);
  const interrupt = pending === undefined ? {} : { interrupt: pending };
  const current = { ...response, ...none, ...interrupt, watched, next_heartbeat_seconds: heartbeatSeconds(watched) };
  // A failing execution could not handle a follow-up; the next one gets it.
  if (head.failing !== undefined) return { ...current, failing: head.failing.message };
  if (findReceivable(head, stored) === undefined) return current;
  return { ...current, followups: await readFollowups(head, stored, ports) };
}

/** The next follow-up that the execution may have. A failing one could not handle it, and an idle run needs a slot for it first. */
const findReceivable = (head: ExecutingHead, taken: number): number | undefined =>
  head.failing === undefined && head.waiting === undefined ? findNextFollowup(head, taken) : undefined;

/**
 * Takes the first follow-up after the number `after` for an execution, with the head as it is stored after each change of a follow-up.
 * Returns undefined if none waits, or the execution cannot handle one.
 */
function takeFollowup(
  first: ExecutingHead,
  stored: number,
  after: number,
  { runs, now }: Pick<RunPorts, "runs" | "now">,
): Promise<{ readonly head: ExecutingHead; readonly number: number } | undefined> {
  return attemptOnHead(
    first,
    { runs },
    async (head) => {
      if (!isExecutingHead(head) || head.execution_id !== first.execution_id) return undefined;
      const number = findReceivable(head, Math.max(stored, after));
      if (number === undefined) return undefined;
      if (await runs.recordTaken(head, now(), stored, number)) return { head, number };
      throw new RunChangedError(new ConflictError(new Set(["head"])));
    },
    { whenDeleted: () => undefined },
  );
}
