import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import { readConversationTail } from "./conversation-store.ts";
import type { RunPorts } from "./run-ports.ts";
import { sees } from "./run-tree.ts";

export interface FoundRun {
  readonly head: RunHead;
  readonly body: RunBody;
}

/** Reads the run if it is visible to the principal; else throws the same error whether it exists or not, which calls it `what`. */
export async function visibleRun(
  runId: string,
  principal: Principal,
  ports: Pick<RunPorts, "runs">,
  what = "run",
): Promise<FoundRun> {
  const found = await ports.runs.headAndBody(runId);
  if (found === undefined || !sees(principal, found.head, found.body)) throw notVisibleError(principal, what);
  return found;
}

/** As `visibleRun`, for requests that steer the run: a run's key steers its descendants, but not its own run. */
export async function steerableRun(
  runId: string,
  principal: Principal,
  ports: Pick<RunPorts, "runs">,
  what = "run",
): Promise<FoundRun> {
  if (principal.kind === "run" && principal.head.run_id === runId) {
    throw new RunyardError("not_authorized", { detail: "a run's key cannot steer its own run" });
  }
  return visibleRun(runId, principal, ports, what);
}

/** As `steerableRun`, for the latest run of a conversation. */
export const steerableLatestRun = (conversationId: string, principal: Principal, ports: ConversationPorts) =>
  findLatestRun(conversationId, principal, ports, steerableRun);

/** As `visibleRun`, for the latest run of a conversation. */
export const visibleLatestRun = (conversationId: string, principal: Principal, ports: ConversationPorts) =>
  findLatestRun(conversationId, principal, ports, visibleRun);

type ConversationPorts = Pick<RunPorts, "runs" | "table">;

async function findLatestRun(
  conversationId: string,
  principal: Principal,
  ports: ConversationPorts,
  find: typeof visibleRun,
): Promise<FoundRun> {
  const { latestRunId } = await readConversationTail(conversationId, ports.table);
  if (latestRunId !== conversationId) return find(latestRunId, principal, ports, "conversation");
  const found = await find(conversationId, principal, ports, "conversation");
  // The id of a run that continues another conversation is no conversation's.
  if (found.body.conversation_id !== conversationId) throw notFound("conversation");
  return found;
}

/** The latest run of the conversation of a run, without a check of who may see it; undefined if it was deleted meanwhile. */
export async function findLatest(
  found: FoundRun,
  { runs, table }: Pick<RunPorts, "table"> & { readonly runs: Pick<RunPorts["runs"], "headAndBody"> },
): Promise<FoundRun | undefined> {
  const { latestRunId } = await readConversationTail(found.body.conversation_id, table);
  return latestRunId === found.head.run_id ? found : runs.headAndBody(latestRunId);
}

/** The error for a resource that does not exist or is not visible: 404. A run's key gets 403 for everything outside its own run tree. */
export function notVisibleError(principal: Principal, what: string): RunyardError {
  return principal.kind === "run"
    ? new RunyardError("not_authorized", { detail: "a run's key can access only its own run and its descendants" })
    : notFound(what);
}

/** Refuses an ancestor that does not exist or is not visible to the principal; `field` is its name in the request. */
export async function refuseUnknownAncestor(
  runId: string | undefined,
  principal: Principal,
  ports: Pick<RunPorts, "runs">,
  field = "ancestor_run_id",
): Promise<void> {
  if (runId === undefined) return;
  const found = isUuid(runId) ? await ports.runs.headAndBody(runId) : undefined;
  if (found === undefined || !sees(principal, found.head, found.body)) {
    throw invalid(field, "there is no such run");
  }
}
