import { prepareMessages } from "#shared/conversations/messages.ts";
import { readFollowups } from "#shared/conversations/read-followups.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { findNextFollowup } from "#shared/records/pending-followups.ts";
import { statusText } from "#shared/records/run.ts";
import {
  countUnchanged,
  type ExecutingHead,
  findPendingInterrupt,
  isIdle,
  isLocal,
  parseOwner,
} from "#shared/records/run-head.ts";
import { withApproval } from "#shared/runs/approvals/decide.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import { sendRequeued, toRequeueChange } from "#shared/runs/requeue-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { AttributeChange, Change, EndChange, TimelineEntry } from "#shared/runs/transition.ts";
import { type TurnEnding, toIdleChange, toTurnEnd, waitsForFollowup } from "#shared/runs/turns/idle-run.ts";
import type { FinishTaskRequest, FinishTaskResponse } from "#shared/wire/harness.ts";

/**
 * The state of a run after its execution wanted to finish it: ended, queued for another execution, continued by this one, which has
 * further follow-ups or an interrupt to handle, or waiting with it for a follow-up.
 */
type Finished = "ended" | "queued" | "continued" | "interrupted" | "idle" | "waiting";

/**
 * Ends the run, with the last messages of its execution. If a follow-up has arrived that the execution has not taken up, the run does
 * not end: an execution that says which ones it has gets the others, else the run continues in a new execution. Only one is started
 * for a follow-up: a harness that takes up none, or a worker whose tasks fail before they do, would otherwise repeat the run forever.
 * An interactive or interrupted run waits for a follow-up, if its execution can wait.
 * @returns what keeps the run from ending
 */
export async function finishExecution(
  first: ExecutingHead,
  request: FinishTaskRequest,
  ports: RunPorts,
): Promise<FinishTaskResponse> {
  const { followups_stored } = request;
  if (followups_stored !== undefined && followups_stored > first.followups) {
    throw invalid("followups_stored", `there are ${first.followups} follow-ups`);
  }
  const toMessages = await prepareLastMessages(first, request, ports);
  const finished = await changeExecution<Finished>(first, ports, (head) => {
    const { count: _, ...said } = toMessages(head);
    const handled = Math.min(request.interrupts_handled ?? 0, head.interrupt?.number ?? 0);
    const known = {
      ...said.set,
      followups_stored: countStored(head, request),
      ...(handled > head.interrupts_handled ? { interrupts_handled: handled } : {}),
    };
    const { change, result } = decideFinish(head, request, ports.now());
    return { change: { ...change, ...said, messagesFirst: true, set: { ...known, ...change.set } }, result };
  });
  return settleFinish(first, finished, request, ports);
}

const countStored = (head: ExecutingHead, { followups_stored = 0 }: FinishTaskRequest): number =>
  Math.max(followups_stored, head.followups_stored);

function decideFinish(
  head: ExecutingHead,
  request: FinishTaskRequest,
  now: number,
): { readonly change: Change; readonly result: Finished } {
  const goesOn: AttributeChange = { events: [], set: { heartbeat_at: now } };
  const next = findNextFollowup(head, countStored(head, request));
  // A failing execution cannot take up any.
  const canGoOn = head.failing === undefined;
  const { interrupts_handled: handled } = request;
  if (canGoOn && handled !== undefined && (findPendingInterrupt(head)?.number ?? 0) > handled) {
    return { change: goesOn, result: "interrupted" };
  }
  if (canGoOn && next !== undefined && request.followups_stored !== undefined && head.waiting === undefined) {
    return { change: toTakeChange(head, next, now), result: "continued" };
  }
  // The run waits already: the request is a repeat, unless the execution has stored a follow-up since.
  const hasStored = countStored(head, request) > head.followups_stored;
  if (canGoOn && request.waits === true && isIdle(head) && !hasStored) return { change: goesOn, result: "waiting" };
  if (next !== undefined && isLocal(head)) {
    throw new RunyardError("conflict", {
      detail: `follow-up ${next} is waiting: take it up with a heartbeat before you finish the run`,
      retryable: false,
    });
  }
  if (next !== undefined && head.requeued_for !== next) {
    return { change: { ...toFollowupRequeue(head, next, now), executionEnd: "itself" }, result: "queued" };
  }
  // Waiting for an approval costs no compute.
  const mayWait = request.waits === true && request.approval === undefined && !isLocal(head);
  if (canGoOn && mayWait && waitsForFollowup(head, request)) {
    return { change: toIdleChange(head, toEnding(request), now), result: "idle" };
  }
  const end = withApproval(head, toTurnEnd(head, toEnding(request), now), request.approval);
  return { change: { ...end, executionEnd: "itself" }, result: "ended" };
}

async function settleFinish(
  first: ExecutingHead,
  finished: Finished,
  request: FinishTaskRequest,
  ports: RunPorts,
): Promise<FinishTaskResponse> {
  if (finished === "continued" || finished === "interrupted") {
    const head = await ports.runs.head(first.run_id);
    if (head === undefined) return {};
    const interrupt = findPendingInterrupt(head);
    if (finished === "interrupted") return interrupt === undefined ? {} : { interrupt };
    return {
      followups: await readFollowups(head, Math.max(request.followups_stored ?? 0, first.followups_stored), ports),
    };
  }
  if (finished === "queued") await sendRequeued(first, ports);
  // The slot of an idle run is granted to another one.
  if (finished === "ended" || finished === "idle")
    await ports.queue.sendEnd(first.run_id, parseOwner(first)).catch(() => undefined);
  return finished === "idle" || finished === "waiting" ? { waiting: true } : {};
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

/** How the run ends with the outcome that its execution reports. */
function toEnding({ success, blocked, summary, error_code, interrupt, approval }: FinishTaskRequest): TurnEnding {
  if (blocked === true) {
    const message = statusText(summary) || "the agent waits for an answer";
    if (approval !== undefined) return { state: "BLOCKED", message, waiting_for: "approval" };
    return { state: "BLOCKED", message, ...(interrupt === undefined ? {} : { waiting_for: "followup" }) };
  }
  if (success) return { state: "SUCCEEDED", message: statusText(summary) || "done" };
  const message = statusText(summary) || "the agent gave no reason";
  return { state: "FAILED", message, ...(error_code === undefined ? {} : { code: error_code }) };
}

/** The execution continues with the next follow-up, which nobody can change any more. */
const toTakeChange = (head: ExecutingHead, next: number, now: number): AttributeChange => ({
  events: [],
  set: { heartbeat_at: now, followups_taken: next },
  ...(head.idle === undefined ? {} : { remove: ["idle"] }),
  if: { followup_changes: countUnchanged(head.followup_changes) },
});

function toFollowupRequeue(head: ExecutingHead, number: number, now: number): EndChange {
  const change = toRequeueChange(head, WAITING, now);
  return { ...change, set: { ...change.set, requeued_for: number } };
}

const WAITING: TimelineEntry = {
  type: "run_queued",
  data: { state: "QUEUED", detail: "a follow-up waits for the next execution" },
};
