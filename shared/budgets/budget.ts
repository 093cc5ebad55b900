import { invalid } from "#shared/errors.ts";
import { toNanoUsd, toUsd } from "#shared/records/money.ts";
import type { Table } from "#shared/table/table.ts";
import { type Allowance, type Budget, type KeyBudget, readBudget, readBudgets } from "./budget-store.ts";

/** Returns the allowance of a run without a parent: of its own budget, and that of the key that it is created with. */
export const ownAllowance = (budgetUsd: number | undefined, key?: KeyBudget): Allowance | undefined =>
  budgetUsd === undefined && key === undefined
    ? undefined
    : {
        ...(budgetUsd === undefined ? {} : { limit: toNanoUsd(budgetUsd) }),
        above: [],
        ...(key === undefined ? {} : { key }),
      };

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
  ownKey?: KeyBudget,
): Promise<Allowance | undefined> {
  if (!parent.hasBudget) return ownAllowance(budgetUsd, ownKey);
  const stored = await readBudget(parent.runId, table);
  const above = listBudgets(parent.runId, stored);
  // A run's own key has no budget: its children draw on that of the key that their root was created with.
  const key = ownKey ?? stored.key;
  if (above.length === 0) return ownAllowance(budgetUsd, key);
  const keyMember = key === undefined ? {} : { key };
  if (budgetUsd === undefined) return { above, ...keyMember };
  const budgets = await readBudgets(above, table);
  const unspent = Math.min(...budgets.map(({ limit = 0, spent }) => limit - spent));
  if (toNanoUsd(budgetUsd) > unspent) {
    const remainder = Math.max(0, toUsd(unspent)).toFixed(4);
    throw invalid("config.budget_usd", `is more than the ${remainder} US dollars that are left of its parent's budget`);
  }
  return { limit: toNanoUsd(budgetUsd), above, ...keyMember };
}

/** The runs whose budgets a call of the run draws on. */
export const listBudgets = (runId: string, budget: Budget): readonly string[] =>
  budget.limit === undefined ? budget.above : [runId, ...budget.above];
