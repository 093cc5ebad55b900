import { notFound } from "#shared/errors.ts";
import { findPublicAccess } from "#shared/records/run-body.ts";
import { parseOwner } from "#shared/records/run-head.ts";
import { isSharingAllowed } from "#shared/records/team.ts";
import { listLatestRuns } from "#shared/runs/conversation-store.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/** Number of the newest continuations of a conversation that are searched for a shared one. */
const LATEST_RUNS = 20;

/** Finds the conversation of a session, which is a run. A session that is not public counts as missing. */
export async function findSessionConversation(
  sessionId: string,
  ports: Pick<RunPorts, "runs" | "table">,
): Promise<string> {
  const { body } = await findPublicRun(sessionId, ports);
  return body.conversation_id;
}

/** Finds the run of a public session. */
export async function findPublicRun(
  sessionId: string,
  { runs, table }: Pick<RunPorts, "runs" | "table">,
): Promise<FoundRun> {
  const found = await runs.headAndBody(sessionId);
  if (found === undefined || !(await isPublic(found, table))) throw notFound("session");
  return found;
}

/** Finds the latest public session of a conversation; a session is a run. */
export async function findConversationSession(
  id: string,
  { runs, table }: Pick<RunPorts, "runs" | "table">,
): Promise<string> {
  const found = await runs.many(await listLatestRuns(id, LATEST_RUNS, table));
  const shared = found.find(
    (run) => run !== undefined && run.body.conversation_id === id && findPublicAccess(run.body) !== undefined,
  );
  // All runs of a conversation have the same owner.
  if (shared === undefined || !(await isPublic(shared, table))) throw notFound("conversation");
  return shared.head.run_id;
}

const isPublic = async ({ head, body }: FoundRun, table: RunPorts["table"]): Promise<boolean> =>
  findPublicAccess(body) !== undefined && (await isSharingAllowed(parseOwner(head), table));
