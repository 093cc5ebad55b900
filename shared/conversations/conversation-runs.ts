import { readTurns } from "#shared/records/kept-turns.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/**
 * Reads the runs of a conversation, whose ids come oldest first, and the deleted ones that a later run continues: their turns are
 * still part of it.
 */
export async function readConversationRuns(
  runIds: readonly string[],
  { runs, table }: Pick<RunPorts, "runs" | "table">,
): Promise<FoundRun[]> {
  const found = await runs.many(runIds);
  const continued = found.slice(0, found.findLastIndex((run) => run !== undefined) + 1);
  const deleted = runIds.filter((_, index) => index < continued.length && continued[index] === undefined);
  const turns = new Map((await readTurns(deleted, table)).map((run) => [run?.head.run_id, run]));
  return continued.map((run, index) => run ?? turns.get(runIds[index])).filter((run) => run !== undefined);
}
