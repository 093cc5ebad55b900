import type * as v from "valibot";
import { readFollowups } from "#shared/conversations/followups.ts";
import { isWatched } from "#shared/conversations/live-output.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { heartbeatSeconds } from "#shared/records/run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
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
  const now = ports.now();
  const watched = isWatched(head, now);
  // This call has just read the head, so a recent heartbeat need not be written again.
  const isRecent =
    head.state === "INPROGRESS" && now - head.heartbeat_at < WRITE_AFTER_MS && stored === head.followups_stored;
  const alive = isRecent || (await ports.runs.recordHeartbeat(head.run_id, head.execution_id, now, stored));
  // The run has continued without this execution: the next heartbeat shows how.
  if (!alive) return { ...response, next_heartbeat_seconds: 1 };
  const current = { ...response, watched, next_heartbeat_seconds: heartbeatSeconds(watched) };
  // A failing execution could not handle a follow-up; the next one gets it.
  if (head.followups <= stored || head.failing !== undefined) return current;
  return { ...current, followups: await readFollowups(head, stored, ports) };
}
