import { parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { CHECK_SHARDS, sortableTime } from "#shared/table/keys.ts";
import type { Item } from "#shared/table/table.ts";
import { toChunks } from "./chunks.ts";

/** Runs of one shard that a pass checks; the next pass checks the others. */
const PASS_LIMIT = 200;
const MAX_BATCH = 100;

/** A run whose check is due. */
export interface DueRun {
  readonly runId: string;
  /** The time of the check, as the index has it. */
  readonly checkAt: string;
  /** Undefined if the stored head cannot be parsed. */
  readonly head: RunHead | undefined;
}

/** Reads the runs whose check is due at `now`, in milliseconds, from all shards. */
export async function readDueRuns(now: number, { runs, table }: Pick<RunPorts, "runs" | "table">): Promise<DueRun[]> {
  const shards = await Promise.all(
    shardKeys.map((pk) => runs.query({ index: "gsi6", pk, to: sortableTime(now), limit: PASS_LIMIT })),
  );
  const due = shards.flatMap(({ items }) => items);
  const items = (await Promise.all(toChunks(due, MAX_BATCH).map((some) => table.batchGet(some)))).flat();
  return items.filter((item) => item !== undefined).map(toDueRun);
}

/** True if the check of a run is due after `now` and not after `until`, both in milliseconds. */
export async function hasDueRun(now: number, until: number, { runs }: Pick<RunPorts, "runs">): Promise<boolean> {
  const ahead = await Promise.all(
    shardKeys.map((pk) =>
      runs.query({ index: "gsi6", pk, after: sortableTime(now), to: sortableTime(until), limit: 1 }),
    ),
  );
  return ahead.some(({ items }) => items.length > 0);
}

/** Postpones the check of a run to `at`, in milliseconds, unless the run has changed it meanwhile. */
export const postponeCheck = (
  { runId, checkAt }: Pick<DueRun, "runId" | "checkAt">,
  at: number,
  { runs }: Pick<RunPorts, "runs">,
): Promise<void> => runs.checkAgain(runId, checkAt, sortableTime(at));

const shardKeys = Array.from({ length: CHECK_SHARDS }, (_, shard) => `RUNS#${shard}`);

const toDueRun = (item: Item): DueRun => ({
  runId: item.pk.slice("RUN#".length),
  checkAt: String(item["check_at"]),
  head: parseIfPossible(item),
});

function parseIfPossible(item: Item): RunHead | undefined {
  try {
    return parseRunHead(item);
  } catch {
    return undefined;
  }
}
