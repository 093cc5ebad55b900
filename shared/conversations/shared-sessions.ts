import * as v from "valibot";
import { notFound } from "#shared/errors.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { conversationPk } from "#shared/table/keys.ts";

/** Continuations of a conversation that are looked at for one that is shared, the newest of them. */
const LATEST_RUNS = 20;

/** The conversation of a session, which is a run. One that is not shared with everybody is answered as an unknown one. */
export async function conversationOfSession(sessionId: string, { runs }: Pick<RunPorts, "runs">): Promise<string> {
  const found = await runs.headAndBody(sessionId);
  if (found === undefined || !isPublic(found.body)) throw notFound("session");
  return found.body.conversation_id;
}

/** The latest run of a conversation that is shared with everybody, as its session. */
export async function sessionOfConversation(id: string, { runs }: Pick<RunPorts, "runs">): Promise<string> {
  const { items } = await runs.query({ pk: conversationPk(id), prefix: "RUN#", descending: true, limit: LATEST_RUNS });
  const ids = [...items.map((item) => v.parse(v.string(), item["run_id"])), id];
  const found = await runs.many(ids);
  const shared = found.find((run) => run !== undefined && run.body.conversation_id === id && isPublic(run.body));
  if (shared === undefined) throw notFound("conversation");
  return shared.head.run_id;
}

const isPublic = ({ config }: RunBody): boolean => config.session_sharing?.public_access !== undefined;
