import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import { Used } from "#shared/records/budget-account.ts";
import { nanoUsd, toUsd } from "#shared/records/money.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Table } from "#shared/table/table.ts";

/** Begins the name of the attribute that a call's reservation is kept in; behind it stands the call's id. */
export const HOLD = "h_";

/** What is set aside for one call of a model while it is under way. Money is in billionths of a dollar. */
export const Hold = v.object({
  amount: v.number(),
  /** Milliseconds: when it was made, and when it is charged in full if nobody has settled it. */
  at: v.number(),
  until: v.number(),
  /** For which execution of which run. */
  run: v.string(),
  execution: v.string(),
});
export type Hold = v.InferOutput<typeof Hold>;

const Sum = v.optional(v.number(), 0);
const Stored = v.object({
  ...Used.entries,
  /** Of a run with a budget of its own: that budget, what is left of it, and what it and all below it have spent. */
  limit: v.exactOptional(v.number()),
  left: Sum,
  spent: Sum,
  /** Calls under way that something is set aside for. */
  open: Sum,
  /** The runs above whose budgets this one draws on as well, the nearest first. */
  above: v.optional(v.array(v.string()), []),
});

/** What a run has spent on models, and whose budgets it draws on. `limit` = `left` + `spent` + all holds, at any moment. */
export interface Budget extends v.InferOutput<typeof Stored> {
  readonly holds: Readonly<Record<string, Hold>>;
}

export function parseBudget(item: Item | undefined): Budget {
  const holds = Object.entries(item ?? {})
    .filter(([name]) => name.startsWith(HOLD))
    .map(([name, hold]) => [name.slice(HOLD.length), v.parse(Hold, hold)] as const);
  return { ...v.parse(Stored, item ?? {}), holds: Object.fromEntries(holds) };
}

/** What the model calls of a run may cost. */
export interface Allowance {
  /** Its own budget in billionths of a dollar; absent where it draws on those above alone. */
  readonly limit?: number | undefined;
  readonly above: readonly string[];
}

/** Of a run that has no parent. */
export const ownAllowance = (budgetUsd: number | undefined): Allowance | undefined =>
  budgetUsd === undefined ? undefined : { limit: nanoUsd(budgetUsd), above: [] };

interface Above {
  readonly runId: string;
  readonly hasBudget: boolean;
}

/**
 * Of a run with a parent: it draws on the parent's budget, and what it is given of its own is a part of that. Refuses more than
 * is left there.
 */
export async function childAllowance(
  budgetUsd: number | undefined,
  parent: Above,
  table: Table,
): Promise<Allowance | undefined> {
  if (!parent.hasBudget) return ownAllowance(budgetUsd);
  const above = budgetsOf(parent.runId, parseBudget(await table.get(keys.budget(parent.runId))));
  if (above.length === 0) return ownAllowance(budgetUsd);
  if (budgetUsd === undefined) return { above };
  const budgets = (await table.batchGet(above.map(keys.budget))).map(parseBudget);
  const unspent = Math.min(...budgets.map(({ limit = 0, spent }) => limit - spent));
  if (nanoUsd(budgetUsd) > unspent) {
    const left = Math.max(0, toUsd(unspent)).toFixed(4);
    throw invalid("config.budget_usd", `is more than the ${left} US dollars that are left of its parent's budget`);
  }
  return { limit: nanoUsd(budgetUsd), above };
}

/** The item of a new run that has a budget, or draws on one. */
export const putBudget = (runId: string, { limit, above }: Allowance): Put => ({
  kind: "put",
  item: {
    ...keys.budget(runId),
    v: 1,
    ...(limit === undefined ? {} : { limit, left: limit }),
    ...(above.length === 0 ? {} : { above: [...above] }),
  },
});

/** The runs whose budgets a call of the run draws on. */
export const budgetsOf = (runId: string, budget: Budget): readonly string[] =>
  budget.limit === undefined ? budget.above : [runId, ...budget.above];
