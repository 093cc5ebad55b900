import { readHeads } from "#shared/records/run-head.ts";
import { leaveTail, listConversationRuns, readConversationTail } from "#shared/runs/conversation-store.ts";
import type { Table } from "#shared/table/table.ts";
import type { NamedWrites } from "#shared/table/transact.ts";

export interface LeftConversation {
  /** True if a later run continues the conversation: the turns of the run remain part of it. */
  readonly keepsTurns: boolean;
  /** Runs that were deleted before, and whose turns no later run continues any more. */
  readonly dropped: readonly string[];
  /** Conflicts with concurrent changes of the conversation's runs. */
  readonly writes: NamedWrites;
}

/** Decides what the deletion of a run means for its conversation. Its turns remain only where that is wanted, and a later run exists. */
export async function leaveConversation(
  runId: string,
  conversationId: string,
  mayKeepTurns: boolean,
  table: Table,
): Promise<LeftConversation> {
  const tail = await readConversationTail(conversationId, table);
  if (!tail.isStored) return { keepsTurns: false, dropped: [], writes: {} };
  const runIds = await listConversationRuns(conversationId, table);
  const heads = await readHeads(runIds, table);
  const isRemaining = (id: string, index: number) => id !== runId && heads[index] !== undefined;
  const newest = runIds.findLastIndex(isRemaining);
  const keepsTurns = mayKeepTurns && newest > runIds.indexOf(runId);
  const dropped = keepsTurns ? [] : runIds.filter((id, index) => index > newest && id !== runId);
  return { keepsTurns, dropped, writes: { conversation: leaveTail(tail, runId, runIds[newest]) } };
}
