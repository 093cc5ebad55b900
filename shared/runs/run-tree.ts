import { invalid, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { type Principal, seesOwner } from "#shared/principals/principal.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { parseOwner, type RunHead, readHead } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { type ConversationTail, listLatestRuns, readConversationTail } from "./conversation-store.ts";
import type { RunPorts } from "./run-ports.ts";

const MAX_DEPTH = 10;

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
  readonly trigger: RunBody["trigger"];
  readonly traceparent: RunBody["traceparent"];
  readonly config: RunBody["config"];
  /** The budget that it shows, and whether it has an item with more of it. */
  readonly budgetUsd: number | undefined;
  readonly hasBudget: boolean;
  /** The runs whose limits its model calls count against, and how long it may take. */
  readonly limited: readonly string[];
  readonly timeLimit: number | undefined;
  readonly endsBy: number | undefined;
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
    trigger: body.trigger,
    traceparent: body.traceparent,
    config: body.config,
    budgetUsd: body.config.budget_usd,
    hasBudget: head.b === true,
    limited: head.lim ?? [],
    timeLimit: head.time_limit,
    endsBy: isTerminal(head.state) ? undefined : head.ends_by,
  };
}

/** The conversation that a new run continues, with the owner of its runs. */
export interface ContinuedConversation extends ConversationTail {
  readonly owner: Owner;
}

/** Finds the conversation that the new run continues. Its latest run must have ended. */
export async function findContinuedConversation(
  request: RunAgentRequest,
  principal: Principal,
  ports: RunPorts,
): Promise<ContinuedConversation | undefined> {
  const id = request.conversation_id;
  if (id === undefined) return undefined;
  const run = isUuid(id) ? await findRunOf(id, ports) : undefined;
  if (run === undefined || run.body.conversation_id !== id || !sees(principal, run.head, run.body)) {
    throw invalid("conversation_id", "there is no such conversation");
  }
  return { ...(await readEndedTail(id, ports.table, { field: "conversation_id: " })), owner: parseOwner(run.head) };
}

/** Finds the first run of a conversation, or the latest one where the first was deleted by its age: all have the same owner. */
async function findRunOf(conversationId: string, { runs, table }: RunPorts) {
  const first = await runs.headAndBody(conversationId);
  if (first !== undefined) return first;
  const [latest = conversationId] = await listLatestRuns(conversationId, 1, table);
  return latest === conversationId ? undefined : runs.headAndBody(latest);
}

/**
 * Reads the latest run of a conversation that a run is about to continue: an ended one, or the run itself.
 * @param runId the run, if it exists already
 * @param field what the refusal begins with
 * @throws RunyardError 409 that names the latest run if that has not ended
 */
export async function readEndedTail(
  id: string,
  table: Pick<Table, "get">,
  { runId, field = "" }: { readonly runId?: string; readonly field?: string } = {},
): Promise<ConversationTail> {
  const tail = await readConversationTail(id, table);
  const latest = tail.latestRunId === runId ? undefined : await readHead(tail.latestRunId, table);
  if (latest === undefined || isTerminal(latest.state)) return tail;
  throw new RunyardError("conflict", {
    detail: `${field}run ${latest.run_id} of this conversation has not ended; send it a follow-up instead`,
    retryable: false,
  });
}
