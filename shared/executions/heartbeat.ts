import type * as v from "valibot";
import { followupsAfter } from "#shared/conversations/followups.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { HEARTBEAT_SECONDS, LEASE_SECONDS } from "#shared/records/run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import type { HeartbeatRequest, HeartbeatResponse } from "#shared/wire/harness.ts";
import { assertHarnessInstance, assertSameExecution, authorizeExecution } from "./execution-access.ts";

/** A beat is written when the last one is this old; a third of the lease, so that two more may be missed. */
const NOTED_MS = (LEASE_SECONDS * 1000) / 3;

/** One beat: notes that the execution lives and which follow-ups it has stored; a cancelled one is told to stop. */
export async function heartbeat(
  principal: Principal,
  header: (name: string) => string | undefined,
  beat: v.InferOutput<typeof HeartbeatRequest>,
  ports: RunPorts,
): Promise<HeartbeatResponse> {
  const answer = { followups: [], cancel: false, next_heartbeat_seconds: HEARTBEAT_SECONDS };
  if (principal.kind === "run" && principal.stopping) {
    assertHarnessInstance(principal.head, header);
    return { ...answer, cancel: true };
  }
  const head = await authorizeExecution(principal, header, ports);
  assertSameExecution(head, beat.execution_id);
  if (beat.followups_stored > head.followups) {
    throw invalid("followups_stored", `there are ${head.followups} follow-ups`);
  }
  const stored = Math.max(beat.followups_stored, head.followups_stored);
  if (head.state === "PENDING")
    throw new RunyardError("conflict", { detail: "call resolve-prompt first", retryable: false });
  const now = ports.now();
  // This call has just read the head, and with it that the execution lives; a young beat need not be written again.
  const isNoted = head.state === "INPROGRESS" && now - head.heartbeat_at < NOTED_MS && stored === head.followups_stored;
  const alive = isNoted || (await ports.runs.recordHeartbeat(head.run_id, head.execution_id, now, stored));
  // The run went on without this execution in between: the next beat tells how.
  if (!alive) return { ...answer, next_heartbeat_seconds: 1 };
  return head.followups > stored ? { ...answer, followups: await followupsAfter(head, stored, ports) } : answer;
}
