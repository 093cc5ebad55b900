import { invalid } from "#shared/errors.ts";
import { toNanoUsd, toUsd } from "#shared/records/money.ts";
import type { Table } from "#shared/table/table.ts";
import { type Allowance, type Budget, readBudget, readBudgets } from "./budget-store.ts";

/** Returns the allowance of a run without a parent. */
export const ownAllowance = (budgetUsd: number | undefined): Allowance | undefined =>
  budgetUsd === undefined ? undefined : { limit: toNanoUsd(budgetUsd), above: [] };

interface Parent {
  readonly runId: string;
  readonly hasBudget: boolean;
}

/**
 * Returns the allowance of a run with a parent: it draws on the parent's budget, and its own budget is a part of that one. Refuses
 * more than is left there.
 */
export async function childAllowance(
  budgetUsd: number | undefined,
  parent: Parent,
  table: Table,
): Promise<Allowance | undefined> {
  if (!parent.hasBudget) return ownAllowance(budgetUsd);
  const above = listBudgets(parent.runId, await readBudget(parent.runId, table));
  if (above.length === 0) return ownAllowance(budgetUsd);
  if (budgetUsd === undefined) return { above };
  const budgets = await readBudgets(above, table);
  const unspent = Math.min(...budgets.map(({ limit = 0, spent }) => limit - spent));
  if (toNanoUsd(budgetUsd) > unspent) {
    const left = Math.max(0, toUsd(unspent)).toFixed(4);
    throw invalid("config.budget_usd", `is more than the ${left} US dollars that are left of its parent's budget`);
  }
  return { limit: toNanoUsd(budgetUsd), above };
}

/** The runs whose budgets a call of the run draws on. */
export const listBudgets = (runId: string, budget: Budget): readonly string[] =>
  budget.limit === undefined ? budget.above : [runId, ...budget.above];
