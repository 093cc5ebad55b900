import * as v from "valibot";
import { conversationPk } from "#shared/table/keys.ts";
import type { Query, Table } from "#shared/table/table.ts";

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
