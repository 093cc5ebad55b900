import { parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { CHECK_SHARDS, sortableTime } from "#shared/table/keys.ts";
import type { Item } from "#shared/table/table.ts";
import { toChunks } from "./chunks.ts";

/** Runs of one shard that are read at once. */
const PASS_LIMIT = 200;
/** Milliseconds within which runs that are not due yet keep the reaper awake. */
const AHEAD_MS = 60_000;
const MAX_BATCH = 100;

/** A run whose check is due. */
export interface DueRun {
  readonly runId: string;
  /** The time of the check, as the index has it. */
  readonly checkAt: string;
  /** Undefined if the stored head cannot be parsed. */
  readonly head: RunHead | undefined;
}

export interface DueRuns {
  readonly due: readonly DueRun[];
  /** True if more runs may be due, which another read finds once these are checked. */
  readonly more: boolean;
  /** True if no run is due now or within the next minute. */
  readonly isQuiet: boolean;
}

/** Reads the runs whose check is due at `now`, in milliseconds, from all shards. */
export async function readDueRuns(now: number, { runs, table }: Pick<RunPorts, "runs" | "table">): Promise<DueRuns> {
  const to = sortableTime(now + AHEAD_MS);
  const shards = await Promise.all(shardKeys.map((pk) => runs.query({ index: "gsi6", pk, to, limit: PASS_LIMIT })));
  const entries = shards.map(({ items }) => items.filter((item) => String(item["check_at"]) <= sortableTime(now)));
  const due = entries.flat();
  const items = (await Promise.all(toChunks(due, MAX_BATCH).map((some) => table.batchGet(some)))).flat();
  return {
    // An index entry may be older than its item, whose check another round has postponed.
    due: items
      .filter((item) => item !== undefined)
      .map(toDueRun)
      .filter(({ checkAt }) => checkAt <= sortableTime(now)),
    more: entries.some(({ length }) => length === PASS_LIMIT),
    isQuiet: shards.every(({ items }) => items.length === 0),
  };
}

/** True if the check of a run is due within the minute after `now`, in milliseconds. */
export async function hasDueRun(now: number, { runs }: Pick<RunPorts, "runs">): Promise<boolean> {
  const range = { after: sortableTime(now), to: sortableTime(now + AHEAD_MS) };
  const ahead = await Promise.all(shardKeys.map((pk) => runs.query({ index: "gsi6", pk, ...range, limit: 1 })));
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
