import type { Table } from "#shared/table/table.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import { type Budget, readBudgets } from "./budget-store.ts";

const MINUTE_MS = 60_000;

type Limits = Pick<AmbientAgentConfig, "timeout_minutes" | "max_steps" | "max_total_tokens">;

type PossibleLimits = { readonly [Name in keyof Limits]: Limits[Name] | undefined };

/** The limits of a new run, besides its budget. */
export interface PlannedLimits extends Limits {
  /** The ancestors whose limits its model calls count against as well. */
  readonly above: readonly string[];
  /** When the time of its parent ends, in milliseconds. */
  readonly endsBy?: number | undefined;
}

/** Returns the limits of a run without a parent; undefined if it has none. */
export function ownLimits({ timeout_minutes, max_steps, max_total_tokens }: PossibleLimits): PlannedLimits | undefined {
  const limits = {
    ...(timeout_minutes === undefined ? {} : { timeout_minutes }),
    ...(max_steps === undefined ? {} : { max_steps }),
    ...(max_total_tokens === undefined ? {} : { max_total_tokens }),
  };
  return Object.keys(limits).length === 0 ? undefined : { ...limits, above: [] };
}

interface LimitedParent {
  /** The runs whose limits its model calls count against. */
  readonly limited: readonly string[];
  readonly timeLimit: number | undefined;
  /** When its time ends, in milliseconds; undefined if it has not started, or has ended. */
  readonly endsBy: number | undefined;
}

/** Returns the limits of a run with a parent: no more than what is left of the parent's, on which its calls draw. */
export async function childLimits(
  config: Limits,
  { limited, timeLimit, endsBy }: LimitedParent,
  { table, now }: { readonly table: Pick<Table, "batchGet">; readonly now: () => number },
): Promise<PlannedLimits | undefined> {
  if (limited.length === 0 && timeLimit === undefined && endsBy === undefined) return ownLimits(config);
  const accounts = limited.length === 0 ? [] : await readBudgets(limited, table);
  const minutes = endsBy === undefined ? timeLimit : Math.ceil((endsBy - now()) / MINUTE_MS);
  const own = {
    timeout_minutes: least([config.timeout_minutes, minutes]),
    max_steps: least([config.max_steps, ...accounts.map(stepsLeft)]),
    max_total_tokens: least([config.max_total_tokens, ...accounts.map(tokensLeft)]),
  };
  return { ...ownLimits(own), above: limited, endsBy };
}

/** The least of the numbers that are known, which a run may have at least one of. */
function least(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.max(1, Math.min(...known));
}

/** Model responses and tokens that are left of a run's limits, undefined where it has none. */
export const stepsLeft = ({ max_steps, steps }: Budget): number | undefined =>
  max_steps === undefined ? undefined : max_steps - steps;
export const tokensLeft = ({ max_tokens, step_tokens }: Budget): number | undefined =>
  max_tokens === undefined ? undefined : max_tokens - step_tokens;

/** The attributes of the head of a new run with limits. */
export function toLimitAttributes(
  runId: string,
  { timeout_minutes, max_steps, max_total_tokens, above, endsBy }: PlannedLimits,
) {
  const isCounted = max_steps !== undefined || max_total_tokens !== undefined;
  const limited = [...(isCounted ? [runId] : []), ...above];
  return {
    ...(timeout_minutes === undefined ? {} : { time_limit: timeout_minutes }),
    ...(endsBy === undefined ? {} : { ends_by: endsBy }),
    ...(limited.length === 0 ? {} : { lim: limited }),
  };
}
