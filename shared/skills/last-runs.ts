import { listVisibleOwners, type Principal } from "#shared/principals/principal.ts";
import { folded } from "#shared/records/run.ts";
import type { Table } from "#shared/table/table.ts";
import { readLatestRuns } from "./last-run-store.ts";

/** When skills last ran, considering the runs that the caller sees. */
export interface LastRuns {
  /** Returns the time of the latest run by any of these specs, in milliseconds; null: there is none; undefined: not known. */
  find(specs: readonly string[]): number | null | undefined;
}

/** Reads when skills last ran, considering the runs that the caller sees. */
export async function readLastRuns(principal: Principal, table: Table): Promise<LastRuns> {
  const owners = principal.kind === "run" ? [] : listVisibleOwners(principal);
  const shards = (await Promise.all(owners.map((owner) => readLatestRuns(owner, table)))).flat();
  const latest = new Map<string, number>();
  for (const [spec, time] of shards.flatMap(({ found }) => found)) {
    latest.set(spec, Math.max(time, latest.get(spec) ?? time));
  }
  const isComplete = shards.every((shard) => shard.isComplete);
  return {
    find(specs) {
      const times = specs.map((spec) => latest.get(folded(spec))).filter((time) => time !== undefined);
      return times.length > 0 ? Math.max(...times) : isComplete ? null : undefined;
    },
  };
}
