import { readFollowups } from "#shared/conversations/followups.ts";
import { prepareMessages } from "#shared/conversations/messages.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { findNextFollowup } from "#shared/records/pending-followups.ts";
import { statusText } from "#shared/records/run.ts";
import { countUnchanged, type ExecutingHead, isLocal, parseOwner } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import { toEndChange } from "#shared/runs/end-run.ts";
import { sendRequeued, toRequeueChange } from "#shared/runs/requeue-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Change, TimelineEntry } from "#shared/runs/transition.ts";
import type { FinishTaskRequest, Followup } from "#shared/wire/harness.ts";

/** The state of a run after its execution wanted to finish it: ended, queued for another execution, or continued by this one. */
type Finished = "ended" | "queued" | "continued";

/**
 * Ends the run, with the last messages of its execution. If a follow-up has arrived that the execution has not taken up, the run does
 * not end: an execution that says which ones it has gets the others, else the run continues in a new execution. Only one is started
 * for a follow-up: a harness that takes up none, or a worker whose tasks fail before they do, would otherwise repeat the run forever.
 * @returns the follow-ups to take up
 */
export async function finishExecution(
  first: ExecutingHead,
  request: FinishTaskRequest,
  ports: RunPorts,
): Promise<Followup[]> {
  const { followups_stored } = request;
  if (followups_stored !== undefined && followups_stored > first.followups) {
    throw invalid("followups_stored", `there are ${first.followups} follow-ups`);
  }
  const toMessages = await prepareLastMessages(first, request, ports);
  const stored = (head: ExecutingHead) => Math.max(followups_stored ?? 0, head.followups_stored);
  const finished = await changeExecution<Finished>(first, ports, (head) => {
    const now = ports.now();
    const { count: _, ...said } = toMessages(head);
    const known = { ...said.set, followups_stored: stored(head) };
    const also = (change: Change): Change => ({
      ...change,
      ...said,
      messagesFirst: true,
      set: { ...known, ...change.set },
    });
    const next = findNextFollowup(head, stored(head));
    // A failing execution cannot take up any.
    if (next !== undefined && followups_stored !== undefined && head.failing === undefined) {
      return { change: also(toTakeChange(head, next, now)), result: "continued" };
    }
    if (next !== undefined && isLocal(head)) {
      throw new RunyardError("conflict", {
        detail: `follow-up ${next} is waiting: take it up with a heartbeat before you finish the run`,
        retryable: false,
      });
    }
    const isRequeued = next !== undefined && head.requeued_for !== next;
    const change = isRequeued ? toFollowupRequeue(head, next, now) : toFinishChange(head, request, now);
    return { change: { ...also(change), endedItself: true }, result: isRequeued ? "queued" : "ended" };
  });
  if (finished === "continued") {
    const head = await ports.runs.head(first.run_id);
    return head === undefined ? [] : readFollowups(head, stored(first), ports);
  }
  if (finished === "queued") await sendRequeued(first, ports);
  else await ports.queue.sendEnd(first.run_id, parseOwner(first)).catch(() => undefined);
  return [];
}

async function prepareLastMessages(
  first: ExecutingHead,
  { first_sequence, messages }: FinishTaskRequest,
  ports: RunPorts,
): ReturnType<typeof prepareMessages> {
  if (messages !== undefined && first_sequence !== undefined) {
    return prepareMessages(first, first_sequence, messages, ports);
  }
  if (messages !== undefined || first_sequence !== undefined) {
    throw invalid("first_sequence", "is sent with messages, and only with them");
  }
  return () => ({ count: 0 });
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

/** The execution continues with the next follow-up, which nobody can change any more. */
const toTakeChange = (head: ExecutingHead, next: number, now: number): Change => ({
  events: [],
  set: { heartbeat_at: now, followups_taken: next },
  if: { followup_changes: countUnchanged(head.followup_changes) },
});

function toFollowupRequeue(head: ExecutingHead, number: number, now: number): Change {
  const change = toRequeueChange(head, WAITING, now);
  return { ...change, set: { ...change.set, requeued_for: number } };
}

const WAITING: TimelineEntry = {
  type: "run_queued",
  data: { state: "QUEUED", detail: "a follow-up waits for the next execution" },
};
