import { RunyardError } from "#shared/errors.ts";
import type { KeyLimits, Principal } from "#shared/principals/principal.ts";
import { toNanoUsd, toUsd } from "#shared/records/money.ts";
import type { Table, Update } from "#shared/table/table.ts";
import { countKeyRun, type KeyBudget, readKeyMonth, spentAt } from "./budget-store.ts";
import { keyMonth } from "./team-month.ts";

const DAY_MS = 86_400_000;

const limitsOf = (principal: Principal): KeyLimits | undefined =>
  principal.kind === "run" ? undefined : principal.limits;

/** The monthly budget that the model calls of a run are paid from which the caller creates. */
export function findKeyBudget(principal: Principal): KeyBudget | undefined {
  const { hash, budgetUsd } = limitsOf(principal) ?? {};
  return hash === undefined || budgetUsd === undefined ? undefined : { hash, limit: toNanoUsd(budgetUsd) };
}

/** The write that counts a new run at the caller's key; none where the key has no limits. */
export function countRunOfKey(principal: Principal, now: number): Update | undefined {
  const limits = limitsOf(principal);
  if (limits === undefined) return undefined;
  const budget = findKeyBudget(principal)?.limit;
  return countKeyRun(keyMonth(limits.hash, now), now, { budget, runs: limits.runsPerDay });
}

/** Returns the refusal of a run that `countRunOfKey` does not count, with the limit that is reached. */
export async function describeKeyLimit(principal: Principal, now: number, table: Table): Promise<RunyardError> {
  const { hash = "", runsPerDay, budgetUsd = 0 } = limitsOf(principal) ?? {};
  const month = keyMonth(hash, now);
  const { budget, runs } = await readKeyMonth(month, now, table);
  if (runsPerDay !== undefined && runs >= runsPerDay) {
    const seconds = Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);
    return new RunyardError("resource_unavailable", {
      status: 429,
      retryAfterSeconds: seconds,
      detail: `max_runs_per_day: ${runs} of ${runsPerDay} runs of this key were created today; send the request after 00:00 UTC, or with another key`,
    });
  }
  const spent = Math.max(toUsd(-budget.left), toUsd(spentAt(budget, now)));
  const renews = new Date(month.endsAt).toISOString().slice(0, "2026-12-01".length);
  return new RunyardError("budget_exceeded", {
    detail: `max_budget_usd: ${spent} of ${budgetUsd} US dollars of this key are spent this month, and the rest pays for no further call; send the request after it renews on ${renews} (UTC), or with another key`,
  });
}
