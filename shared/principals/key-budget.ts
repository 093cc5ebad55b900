import { invalid, RunyardError } from "#shared/errors.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import type { Principal } from "./principal.ts";

type Budgeted = Pick<AmbientAgentConfig, "budget_usd">;

const findLimit = (principal: Principal): number | undefined =>
  principal.kind === "agent" ? principal.maxBudgetUsd : undefined;

/**
 * Limits the budget of a configuration, the member `field` of a request, to that of the caller's key. A configuration without a
 * budget is given the key's.
 * @throws RunyardError if the configuration has a higher budget
 */
export function limitBudget<C extends Budgeted>(
  field: string,
  config: C | undefined,
  principal: Principal,
): C | Budgeted | undefined {
  const limit = findLimit(principal);
  if (limit === undefined) return config;
  if (config?.budget_usd !== undefined && config.budget_usd > limit) {
    throw invalid(`${field}.budget_usd`, `must be at most ${limit}, the max_budget_usd of the key's trust rule`);
  }
  return { budget_usd: limit, ...config };
}

/** Refuses to start runs with a configuration whose budget is higher than that of the caller's key, or that has none. */
export function refuseHigherBudget(config: Budgeted | undefined, principal: Principal): void {
  const limit = findLimit(principal);
  if (limit === undefined || (config?.budget_usd ?? Number.POSITIVE_INFINITY) <= limit) return;
  throw new RunyardError("not_authorized", {
    detail: `the key is for runs with a budget of at most ${limit} US dollars, the max_budget_usd of its trust rule`,
  });
}

/**
 * Refuses what a key with limits would make and what starts runs of its own, because the limits would not count them.
 * @throws RunyardError 403
 */
export function refuseLimitedKey(principal: Principal, things: string): void {
  if (principal.kind === "run" || principal.limits === undefined) return;
  throw new RunyardError("not_authorized", {
    detail: `a key with max_budget_usd or max_runs_per_day does not save ${things}, whose runs these limits would not count: use a key without limits`,
  });
}
