import type { RunItem } from "../../clients/typescript/src/index.ts";
import { costOf } from "../runs/cost-of.ts";
import { isFailed } from "../ui/format.ts";

/** The health of a schedule, trigger, environment or agent, by its latest runs. */
export interface Health {
  readonly succeeded: number;
  readonly failed: number;
  /** The creation of the first of the consecutive failed runs up to now. Absent if the latest one that has ended did not fail. */
  readonly failingSince?: string;
  /** The mean cost of the runs that have ended. Absent if none has. */
  readonly costUsd?: number;
}

const isDecided = ({ state }: RunItem): boolean => isFailed(state) || state === "SUCCEEDED";

/** Reads the health off the latest runs, newest first. Runs that are active, wait or were cancelled say nothing. */
export function readHealth(runs: readonly RunItem[]): Health {
  const decided = runs.filter(isDecided);
  const firstGood = decided.findIndex(({ state }) => !isFailed(state));
  const failing = firstGood === -1 ? decided : decided.slice(0, firstGood);
  const since = failing.at(-1)?.created_at;
  const cost = decided.reduce((sum, run) => sum + costOf(run), 0);
  return {
    succeeded: decided.filter(({ state }) => !isFailed(state)).length,
    failed: decided.filter(({ state }) => isFailed(state)).length,
    ...(since === undefined ? {} : { failingSince: since }),
    ...(decided.length === 0 ? {} : { costUsd: cost / decided.length }),
  };
}
