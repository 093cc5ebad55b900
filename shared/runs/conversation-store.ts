import * as v from "valibot";
import { countUnchanged } from "#shared/records/run-head.ts";
import { conversationPk, keys } from "#shared/table/keys.ts";
import type { Delete, Put, Query, Table, Update } from "#shared/table/table.ts";

/** The latest run of a conversation, the only one that can be active; one that was never continued has no such item. */
export interface ConversationTail {
  readonly conversationId: string;
  readonly latestRunId: string;
  readonly isStored: boolean;
  /** Counts the runs that continued the conversation, also ended runs with a follow-up. */
  readonly changes: number;
}

const Tail = v.object({ run_id: v.string(), changes: v.optional(v.number(), 0) });

/** Reads the latest run of a conversation: its first run, whose id it has, where none has continued it. */
export async function readConversationTail(id: string, table: Pick<Table, "get">): Promise<ConversationTail> {
  const item = await table.get(keys.conversationTail(id));
  const { run_id, changes } = item === undefined ? { run_id: id, changes: 0 } : v.parse(Tail, item);
  return { conversationId: id, latestRunId: run_id, isStored: item !== undefined, changes };
}

/**
 * Makes a new run, or one that continues after its end, the conversation's latest. No other run may have continued the conversation
 * since the tail was read, and the latest run had ended after that: so two runs are never active at the same time.
 */
export const moveTail = ({ conversationId, isStored, changes }: ConversationTail, runId: string): Put => ({
  kind: "put",
  item: { ...keys.conversationTail(conversationId), v: 1, run_id: runId, changes: changes + 1 },
  if: isStored ? { changes: countUnchanged(changes) } : { pk: { exists: false } },
});

/**
 * The write by which a run that is deleted leaves its conversation; `newest` is the newest of the remaining runs. It conflicts with
 * every other change of the conversation's runs since the tail was read.
 */
export function leaveTail(
  { conversationId, latestRunId, changes }: ConversationTail,
  runId: string,
  newest: string | undefined,
): Update | Delete {
  const tail = { key: keys.conversationTail(conversationId), if: { changes: countUnchanged(changes) } };
  if (newest === undefined) return { kind: "delete", ...tail };
  const set = latestRunId === runId ? { run_id: newest } : {};
  return { kind: "update", ...tail, set, add: { changes: 1 } };
}

/** The writes by which a new run continues a conversation. */
export const continueConversation = (tail: ConversationTail, runId: string): Put[] => [
  moveTail(tail, runId),
  { kind: "put", item: { ...keys.conversationRun(tail.conversationId, runId), v: 1, run_id: runId } },
];

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
