import { invalid, RunyardError, retryableConflict } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { type Principal, seesOwner } from "#shared/principals/principal.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { parseOwner, type RunHead, readHeads } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { RunAgentRequest, UserProfile } from "#shared/wire/run.ts";
import { type ConversationTail, listLatestRuns, readConversationTail } from "./conversation-store.ts";
import type { RunPorts } from "./run-ports.ts";

const MAX_DEPTH = 10;
/** The latest continuations of a conversation that are checked for one that has not ended. */
const CHECKED_RUNS = 99;

/** True for the principals that a run is visible to: its team's members and agents, its owner, and a run's key for the run and its descendants. */
export function sees(principal: Principal, head: RunHead, body: RunBody): boolean {
  if (principal.kind === "run") {
    return principal.head.run_id === head.run_id || body.ancestors.includes(principal.head.run_id);
  }
  return seesOwner(principal, parseOwner(head));
}

export interface Parent {
  readonly runId: string;
  readonly owner: Owner;
  readonly ancestors: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly executor: UserProfile;
  readonly secrets: RunBody["secrets"];
  readonly config: RunBody["config"];
  /** The budget that it shows, and whether it has an item with more of it. */
  readonly budgetUsd: number | undefined;
  readonly hasBudget: boolean;
}

/** Finds the run that the new one is a child of. A run's own key creates children of itself unless it names a descendant. */
export async function findParent(
  request: RunAgentRequest,
  principal: Principal,
  ports: RunPorts,
): Promise<Parent | undefined> {
  const runId = request.parent_run_id ?? (principal.kind === "run" ? principal.head.run_id : undefined);
  if (runId === undefined) return undefined;
  const found = isUuid(runId) ? await ports.runs.headAndBody(runId) : undefined;
  if (found === undefined || !sees(principal, found.head, found.body)) {
    throw invalid("parent_run_id", "there is no such run");
  }
  const { head, body } = found;
  if (body.ancestors.length + 1 > MAX_DEPTH) {
    throw invalid("parent_run_id", `runs may be nested ${MAX_DEPTH} deep at most`);
  }
  return {
    runId,
    owner: parseOwner(head),
    ancestors: body.ancestors,
    metadata: body.metadata,
    executor: body.executor,
    secrets: body.secrets,
    config: body.config,
    budgetUsd: body.config.budget_usd,
    hasBudget: head.b === true,
  };
}

/** The conversation that a new run continues, with the owner of its runs. */
export interface ContinuedConversation extends ConversationTail {
  readonly owner: Owner;
}

/** Finds the conversation that the new run continues. Its runs must have ended; of a long one, the first and the latest are checked. */
export async function findContinuedConversation(
  request: RunAgentRequest,
  principal: Principal,
  ports: RunPorts,
): Promise<ContinuedConversation | undefined> {
  const id = request.conversation_id;
  if (id === undefined) return undefined;
  const first = isUuid(id) ? await ports.runs.headAndBody(id) : undefined;
  if (first === undefined || first.body.conversation_id !== id || !sees(principal, first.head, first.body)) {
    throw invalid("conversation_id", "there is no such conversation");
  }
  const tail = await readConversationTail(id, ports.table);
  const heads = tail.isStored
    ? await readHeads(await listLatestRuns(id, CHECKED_RUNS, ports.table), ports.table)
    : [first.head];
  if (!heads.some((head) => head?.run_id === tail.latestRunId)) {
    throw retryableConflict("the conversation changed in the meantime");
  }
  const active = heads.find((head) => head !== undefined && !isTerminal(head.state))?.run_id;
  if (active !== undefined) {
    throw new RunyardError("conflict", {
      detail: `conversation_id: run ${active} of this conversation has not ended; send it a follow-up instead`,
      retryable: false,
    });
  }
  return { ...tail, owner: parseOwner(first.head) };
}
