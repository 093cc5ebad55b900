import { toNanoUsd } from "#shared/records/money.ts";
import { parseOwner, type RunHead } from "#shared/records/run-head.ts";
import type { Team } from "#shared/records/team.ts";
import type { Table } from "#shared/table/table.ts";
import { listBudgets } from "./budget.ts";
import { type Budget, type Payer, readBudget, readBudgets } from "./budget-store.ts";
import { keyMonth, type TeamMonth, teamMonth } from "./team-month.ts";

/** A run whose model responses and tokens are limited: the run of a call, or one of its ancestors. */
export interface LimitedRun {
  readonly runId: string;
  readonly account: Budget;
}

interface Payers {
  /** The budgets that the call is paid from: of the run, of its ancestors, of their key and its team for the month. */
  readonly payers: readonly Payer[];
  /** The month of the team that the cost is added to; absent if the month is among the payers, or the cost counts in none. */
  readonly countedIn?: TeamMonth;
  /** The runs whose limits of steps and tokens the call counts against. */
  readonly limited: readonly LimitedRun[];
}

interface PayerOptions {
  /** Milliseconds. */
  readonly startedAt: number;
  readonly isFree: boolean;
  /** True if the team or the run pays the provider itself: the call counts in no month of the team. */
  readonly hasOwnKey?: boolean;
  /** The team of the run. */
  readonly team: Pick<Team, "budget_usd_month"> | undefined;
}

/**
 * Reads what a model call of the run is paid from, with the limit that its team has at this moment. A call that costs nothing in any
 * case is possible in a spent month, too.
 */
export async function readPayers(
  head: Pick<RunHead, "run_id" | "scope" | "b" | "lim">,
  { startedAt, isFree, hasOwnKey = false, team }: PayerOptions,
  table: Pick<Table, "get" | "batchGet">,
): Promise<Payers> {
  const owner = parseOwner(head);
  const month = owner.type === "Team" && !isFree && !hasOwnKey ? teamMonth(owner.uid, startedAt) : undefined;
  const { budget, limited } = await readAccounts(head, table);
  const runs = budget === undefined ? [] : listBudgets(head.run_id, budget);
  const key = isFree ? undefined : budget?.key;
  const payers: readonly Payer[] = [
    ...runs.map((runId) => ({ kind: "run", runId }) as const),
    ...(key === undefined ? [] : [{ kind: "month", month: keyMonth(key.hash, startedAt), limit: key.limit } as const]),
  ];
  if (month === undefined) return { payers, limited };
  const limit = team?.budget_usd_month;
  if (limit === undefined) return { payers, limited, countedIn: month };
  return { payers: [...payers, { kind: "month", month, limit: toNanoUsd(limit) }], limited };
}

/** Reads the budget of a run that has one, together with the runs whose limits it counts against. */
async function readAccounts(
  { run_id, b, lim = [] }: Pick<RunHead, "run_id" | "b" | "lim">,
  table: Pick<Table, "get" | "batchGet">,
): Promise<{ readonly budget: Budget | undefined; readonly limited: readonly LimitedRun[] }> {
  if (lim.length === 0) return { budget: b === true ? await readBudget(run_id, table) : undefined, limited: [] };
  const runs = [...new Set([run_id, ...lim])];
  const accounts = new Map((await readBudgets(runs, table)).map((account, index) => [runs[index] ?? "", account]));
  const limited = lim.flatMap((runId) => {
    const account = accounts.get(runId);
    return account === undefined ? [] : [{ runId, account }];
  });
  return { budget: accounts.get(run_id), limited };
}
