import { invalid, RunyardError, retryableConflict } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { type Principal, seesOwner } from "#shared/principals/principal.ts";
import { isTerminal, MAX_DESCENDANTS, RUN_CAPS } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { ownerOf, type RunHead } from "#shared/records/run-head.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { TransactionWrite, Update } from "#shared/table/table.ts";
import type { RunAgentRequest, UserProfile } from "#shared/wire/run.ts";
import type { RunPorts } from "./ports.ts";

const MAX_DEPTH = 10;

/** Who may see a run: its team's members and agents, its owner, and a run's key for the run and its descendants. */
export function sees(principal: Principal, head: RunHead, body: RunBody): boolean {
  if (principal.kind === "run") {
    return principal.head.run_id === head.run_id || body.ancestors.includes(principal.head.run_id);
  }
  return seesOwner(principal, ownerOf(head));
}

export interface Parent {
  readonly runId: string;
  readonly owner: Owner;
  readonly ancestors: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly executor: UserProfile;
  readonly secrets: RunBody["secrets"];
  readonly config: RunBody["config"];
  /** What it says of its budget, and whether there is more to be read of it. */
  readonly budgetUsd: number | undefined;
  readonly hasBudget: boolean;
  /** The writes that count one more child of the run and one more descendant of the tree's root, while there is room for both. */
  readonly counted: readonly Update[];
}

/** Whether a write counts a new run at its parent or at the root of its tree. */
export const isTreeCount = (write: TransactionWrite | undefined): boolean =>
  write?.kind === "update" && (write.add?.["children"] !== undefined || write.add?.["descendants"] !== undefined);

/** The run that the new one is a child of. A run's own key makes children of itself unless it names a descendant. */
export async function parentOf(
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
    owner: ownerOf(head),
    ancestors: body.ancestors,
    metadata: body.metadata,
    executor: body.executor,
    secrets: body.secrets,
    config: body.config,
    budgetUsd: body.config.budget_usd,
    hasBudget: head.b === true,
    counted: countChild(runId, body.ancestors[0]),
  };
}

/** A child of the root is counted by one write: a transaction changes an item once. */
function countChild(parent: string, root: string | undefined): Update[] {
  const child = { children: { absentOr: { below: RUN_CAPS.children } } } as const;
  const descendant = { descendants: { absentOr: { below: MAX_DESCENDANTS } } } as const;
  const update = { kind: "update", key: keys.head(parent) } as const;
  if (root === undefined) {
    return [{ ...update, add: { children: 1, descendants: 1 }, if: { ...child, ...descendant } }];
  }
  return [
    { ...update, add: { children: 1 }, if: child },
    { kind: "update", key: keys.head(root), add: { descendants: 1 }, if: descendant },
  ];
}

export interface ContinuedConversation {
  readonly id: string;
  /** Writes that make the new run the conversation's latest, if no other has become it in between. */
  readonly writes: (runId: string) => TransactionWrite[];
}

/** The conversation that the new run continues; its latest run must have ended. A conversation's id is its first run's. */
export async function continuedConversation(
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
  const tail = await ports.table.get(keys.conversationTail(id));
  const latestId = typeof tail?.["run_id"] === "string" ? tail["run_id"] : id;
  const latest = latestId === id ? first.head : await ports.runs.head(latestId);
  if (latest === undefined) throw retryableConflict("the conversation changed in between");
  if (!isTerminal(latest.state)) {
    throw new RunyardError("conflict", {
      detail: `conversation_id: run ${latestId} of this conversation has not ended; send it a follow-up instead`,
      retryable: false,
    });
  }
  return {
    id,
    writes: (runId) => [
      {
        kind: "put",
        item: { ...keys.conversationTail(id), v: 1, run_id: runId },
        if: tail === undefined ? { pk: { exists: false } } : { run_id: { eq: latestId } },
      },
      { kind: "put", item: { ...keys.conversationRun(id, runId), v: 1, run_id: runId } },
    ],
  };
}
