import { takeCharacters } from "#shared/characters.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { sha256 } from "#shared/ids.ts";
import { formatName, type Principal } from "#shared/principals/principal.ts";
import type { EndedHead, ExecutingHead, RunHead } from "#shared/records/run-head.ts";
import type { EndChange, TimelineEntry } from "#shared/runs/transition.ts";
import { type ApprovalCall, type ApprovalDecision, formatCall } from "#shared/wire/executions/approval.ts";
import type { RunFollowupRequest } from "#shared/wire/runs/followup.ts";

/** The most characters of a call's arguments that a run shows; the conversation has them whole. */
const SHOWN = 4096;

/** Adds the call that the run waits for to the change that ends it. */
export function withApproval(head: ExecutingHead, change: EndChange, call: ApprovalCall | undefined): EndChange {
  if (call === undefined || change.to !== "BLOCKED") return change;
  const approval = {
    approval_id: `approval-${head.next_sequence}`,
    tool: call.tool,
    arguments: takeCharacters(JSON.stringify(call.input), SHOWN),
    action_id: call.action_id,
    digest: sha256(formatCall(call)),
  };
  const requested: TimelineEntry = {
    type: "approval_requested",
    data: {
      approval_id: approval.approval_id,
      action_id: call.action_id,
      detail: `${call.tool} ${approval.arguments}`,
    },
  };
  return { ...change, events: [requested, ...change.events], set: { ...change.set, approval } };
}

/** What a person answers to the request of an approval. */
export interface Answer {
  readonly approvalId: string;
  readonly approved: boolean;
  readonly by: string;
}

/** Reads the answer of a follow-up. Only people approve, so that no agent approves what it or another one wants to do. */
export function readAnswer({ approve, deny }: RunFollowupRequest, principal: Principal): Answer | undefined {
  if (approve !== undefined && deny !== undefined) {
    throw invalid("deny", "cannot be combined with approve: send one of the two");
  }
  const approvalId = approve ?? deny;
  if (approvalId === undefined) return undefined;
  const member = approve === undefined ? "deny" : "approve";
  if (principal.kind !== "personal") {
    const whose = principal.kind === "run" ? "a run" : "an agent identity";
    throw new RunyardError("not_authorized", {
      detail: `${member}: the key of ${whose} decides about no approval; use a person's key, or the web app`,
    });
  }
  return { approvalId, approved: approve !== undefined, by: formatName(principal) };
}

/**
 * Finds the number of the follow-up that brought the same answer before.
 * @throws where the run does not wait for this approval, or was answered otherwise
 */
export function findEarlierAnswer(head: RunHead, { approvalId, approved }: Answer): number | undefined {
  const { decision } = head;
  if (isWaiting(head) && head.approval.approval_id === approvalId) return undefined;
  if (decision?.approval_id === approvalId && decision.approved === approved) return decision.number;
  const member = approved ? "approve" : "deny";
  const why =
    decision?.approval_id === approvalId
      ? `was ${decision.approved ? "approved" : "denied"} already`
      : "is not what the run waits for; read the run for its approval";
  throw new RunyardError("conflict", { detail: `${member}: ${approvalId} ${why}`, retryable: false });
}

const isWaiting = (head: RunHead): head is EndedHead & Required<Pick<EndedHead, "approval">> =>
  head.state === "BLOCKED" && head.approval !== undefined;

/** What a follow-up has and changes where the run waits for an approval. A follow-up without an answer denies it. */
export function decideApproval(
  head: RunHead,
  answer: Answer | undefined,
  { number, by, reason }: { readonly number: number; readonly by: string; readonly reason: string },
): {
  readonly decision?: ApprovalDecision;
  readonly events: readonly TimelineEntry[];
  readonly set: Pick<RunHead, "decision">;
} {
  if (!isWaiting(head)) return { events: [], set: {} };
  const { approval_id, digest } = head.approval;
  const approved = answer?.approved === true;
  const who = answer?.by ?? by;
  const detail = `${approved ? "approved" : "denied"} by ${who}${reason === "" ? "" : `: ${reason}`}`;
  const data = { approval_id, detail: takeCharacters(detail, SHOWN) };
  return {
    ...(answer === undefined ? {} : { decision: { approved, digest, by: who } }),
    events: [{ type: approved ? "approved" : "denied", data }],
    set: { decision: { approval_id, approved, number } },
  };
}
