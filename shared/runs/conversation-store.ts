import * as v from "valibot";
import { conversationPk, keys } from "#shared/table/keys.ts";
import type { Put, Query, Table } from "#shared/table/table.ts";

/** The latest run of a conversation; a conversation that was never continued has no such item. */
export interface ConversationTail {
  readonly conversationId: string;
  readonly latestRunId: string;
  readonly isStored: boolean;
}

/** Reads the latest run of a conversation: its first run, whose id it has, where no other continues it. */
export async function readConversationTail(id: string, table: Pick<Table, "get">): Promise<ConversationTail> {
  const tail = await table.get(keys.conversationTail(id));
  const latest = tail?.["run_id"];
  return { conversationId: id, latestRunId: typeof latest === "string" ? latest : id, isStored: tail !== undefined };
}

/** Makes the new run the conversation's latest, if no other has become it in the meantime. */
export function continueConversation(
  { conversationId, latestRunId, isStored }: ConversationTail,
  runId: string,
): Put[] {
  return [
    {
      kind: "put",
      item: { ...keys.conversationTail(conversationId), v: 1, run_id: runId },
      if: isStored ? { run_id: { eq: latestRunId } } : { pk: { exists: false } },
    },
    { kind: "put", item: { ...keys.conversationRun(conversationId, runId), v: 1, run_id: runId } },
  ];
}

/** Lists the runs of a conversation, oldest first: the one it is named after, and those that continued it. */
export async function listConversationRuns(id: string, table: Pick<Table, "query">): Promise<string[]> {
  return [id, ...(await listContinuations(id, {}, table))];
}

/** Lists at most `limit` runs of a conversation, newest first, and the run it is named after as the last one. */
export async function listLatestRuns(id: string, limit: number, table: Pick<Table, "query">): Promise<string[]> {
  return [...(await listContinuations(id, { descending: true, limit }, table)), id];
}

async function listContinuations(
  id: string,
  options: Pick<Query, "descending" | "limit">,
  table: Pick<Table, "query">,
): Promise<string[]> {
  const { items } = await table.query({ pk: conversationPk(id), prefix: "RUN#", ...options });
  return items.map((item) => v.parse(v.string(), item["run_id"]));
}
