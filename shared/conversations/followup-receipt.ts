import { type Principal, toProfile } from "#shared/principals/principal.ts";
import { toFollowupId } from "#shared/records/followup.ts";
import { countPendingFollowups } from "#shared/records/pending-followups.ts";
import { isTerminal } from "#shared/records/run.ts";
import { executorOf, isWaitingForCapacity, type RunHead } from "#shared/records/run-head.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import { FOLLOWUP_OUTCOMES, type FollowupOutcome } from "#shared/wire/runs/followup.ts";

/** A stored follow-up and its outcome. */
export interface FollowupReceipt {
  readonly runId: string;
  readonly number: number;
  readonly outcome: FollowupOutcome;
}

/** Builds the receipt of a follow-up that is sent to a run whose head is `head`. */
export const toReceipt = (head: RunHead): FollowupReceipt => ({
  runId: head.run_id,
  number: head.followups + 1,
  outcome: toOutcome(head),
});

function toOutcome(head: RunHead): FollowupOutcome {
  if (isTerminal(head.state)) return "handoff_execution";
  if (countPendingFollowups(head) > 0 || isWaitingForCapacity(head)) return "queue_pending";
  return head.state === "INPROGRESS" ? "live_session" : "queued_prompt";
}

/** Formats a receipt as the response to its request. */
export const toFollowupResponse = ({ runId, number, outcome }: FollowupReceipt) => ({
  followup_id: toFollowupId(number),
  run_id: runId,
  outcome,
});

/** Formats a receipt for the idempotency record of its request. */
export const formatReceipt = ({ runId, number, outcome }: FollowupReceipt): string => `${runId} ${number} ${outcome}`;

/** Parses the receipt of a repeated request. Records of earlier versions name the run only, whose latest follow-up is taken. */
export function parseReceipt(result: string, head: RunHead): FollowupReceipt {
  const [runId = head.run_id, number, name] = result.split(" ");
  const outcome = FOLLOWUP_OUTCOMES.find((known) => known === name);
  return outcome === undefined
    ? { runId, number: Math.max(1, head.followups), outcome: "queued_prompt" }
    : { runId, number: Number(number), outcome };
}

/** Who sends a follow-up: a run's key acts for the executor of its run. */
export function toSender(principal: Principal): UserProfile {
  if (principal.kind !== "run") {
    const { type, uid, display_name } = toProfile(principal);
    return { type, uid, ...(display_name === undefined ? {} : { display_name }) };
  }
  const { p } = principal.head;
  return { type: p.as_identity === true ? "service_account" : "user", uid: executorOf(p) };
}
