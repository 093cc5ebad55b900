import { RunyardError } from "#shared/errors.ts";
import { statusText } from "#shared/records/run.ts";
import { type ExecutingHead, isLocal, parseOwner } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import { toEndChange } from "#shared/runs/end-run.ts";
import { sendRequeued, toRequeueChange } from "#shared/runs/requeue-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Change, TimelineEntry } from "#shared/runs/transition.ts";
import type { FinishTaskRequest } from "#shared/wire/harness.ts";

/** Ends the run, or continues it in a new execution if a follow-up has arrived that this one has not taken up. */
export async function finishExecution(
  first: ExecutingHead,
  request: FinishTaskRequest,
  ports: RunPorts,
): Promise<void> {
  const now = ports.now();
  const again = await changeExecution(first, ports, (head) => {
    const waiting = head.followups > head.followups_stored;
    if (waiting && isLocal(head)) {
      throw new RunyardError("conflict", {
        detail: `follow-up ${head.followups_stored + 1} is waiting: take it up with a heartbeat before you finish the run`,
        retryable: false,
      });
    }
    return {
      change: {
        ...(waiting ? toRequeueChange(head, WAITING, now) : toFinishChange(head, request, now)),
        endedItself: true,
      },
      result: waiting,
    };
  });
  if (again) await sendRequeued(first, ports);
  else await ports.queue.sendEnd(first.run_id, parseOwner(first)).catch(() => undefined);
}

function toFinishChange(head: ExecutingHead, request: FinishTaskRequest, now: number): Change {
  if (request.blocked === true) {
    const question = statusText(request.summary) || "the agent waits for an answer";
    return toEndChange(head, { state: "BLOCKED", now, message: question });
  }
  const summary = statusText(request.summary) || (request.success ? "done" : "the agent gave no reason");
  return request.success
    ? toEndChange(head, { state: "SUCCEEDED", now, data: { detail: summary } })
    : toEndChange(head, {
        state: "FAILED",
        now,
        message: summary,
        ...(request.error_code === undefined ? {} : { code: request.error_code }),
      });
}

const WAITING: TimelineEntry = {
  type: "run_queued",
  data: { state: "QUEUED", detail: "a follow-up waits for the next execution" },
};
