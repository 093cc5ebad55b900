import { readRunHeads } from "#shared/records/read-run-heads.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { Table } from "#shared/table/table.ts";

/** What counts the failures of what starts runs: a schedule or a trigger. */
export interface FailureCount {
  readonly pause_after_failures?: number;
  /** Since when runs have failed without one that has not, in milliseconds. */
  readonly failing_since?: number;
  /** Runs from before this time no longer count towards a pause: when it was last resumed, in milliseconds. */
  readonly failures_from?: number;
}

interface Failures {
  /** Absent where the latest run that has ended did not fail. */
  readonly failing_since: number | undefined;
  /** Why it has to be paused; absent where it has not. */
  readonly pauseReason: string | undefined;
  /** The latest run that failed. */
  readonly latest: string | undefined;
}

const hasFailed = ({ state }: RunHead): boolean => state === "FAILED" || state === "ERROR";

/**
 * Reads how many of the latest runs have failed in a row. Runs that are active or were cancelled count neither way. Read from the
 * runs rather than counted, so that a repeated or late message changes nothing.
 */
export async function readFailures(
  runIds: readonly string[],
  { pause_after_failures: limit, failing_since: before, failures_from = 0 }: FailureCount,
  table: Pick<Table, "batchGet">,
): Promise<Failures> {
  const heads = await readRunHeads(runIds, table);
  const ended = heads.filter(({ state }) => isTerminal(state) && state !== "CANCELLED");
  const other = ended.findIndex((head) => !hasFailed(head));
  const failed = other < 0 ? ended : ended.slice(0, other);
  const oldest = failed.at(-1)?.created_at;
  const counted = failed.filter(({ created_at }) => created_at > failures_from).length;
  return {
    failing_since: oldest !== undefined && other < 0 ? Math.min(oldest, before ?? oldest) : oldest,
    pauseReason: limit !== undefined && counted >= limit ? describeFailures(limit) : undefined,
    latest: failed[0]?.run_id,
  };
}

const describeFailures = (limit: number): string =>
  limit === 1 ? "its last run failed" : `its last ${limit} runs failed in a row`;

/** The failure count after a change; resumed ones begin to count again, and 0 clears the limit. */
export function changeFailureCount(
  { pause_after_failures: limit, failing_since, failures_from }: FailureCount,
  change: { readonly limit?: number | undefined; readonly resumedAt?: number | undefined },
): FailureCount {
  const [changed = 0, from] = [change.limit ?? limit, change.resumedAt ?? failures_from];
  return {
    ...(changed === 0 ? {} : { pause_after_failures: changed }),
    ...(failing_since === undefined ? {} : { failing_since }),
    ...(from === undefined ? {} : { failures_from: from }),
  };
}
