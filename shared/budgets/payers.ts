import { toNanoUsd } from "#shared/records/money.ts";
import { parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { readTeam } from "#shared/records/team.ts";
import type { Table } from "#shared/table/table.ts";
import { listBudgets } from "./budget.ts";
import { type Payer, readBudget } from "./budget-store.ts";
import { type TeamMonth, teamMonth } from "./team-month.ts";

interface Payers {
  /** The budgets that the call is paid from: of the run, of its ancestors, of its team for the month. */
  readonly payers: readonly Payer[];
  /** The month of the team that the cost is added to; absent if the month is among the payers, or the cost counts in none. */
  readonly countedIn?: TeamMonth;
}

/**
 * Reads what a model call of the run is paid from, with the limit that its team has at this moment. A call that costs nothing in any
 * case is possible in a spent month, too.
 */
export async function readPayers(
  head: Pick<RunHead, "run_id" | "scope" | "b">,
  { startedAt, isFree }: { readonly startedAt: number; readonly isFree: boolean },
  table: Pick<Table, "get">,
): Promise<Payers> {
  const owner = parseOwner(head);
  const month = owner.type === "Team" && !isFree ? teamMonth(owner.uid, startedAt) : undefined;
  const [budget, team] = await Promise.all([
    head.b === true ? readBudget(head.run_id, table) : undefined,
    month === undefined ? undefined : readTeam(month.team, table),
  ]);
  const runs = budget === undefined ? [] : listBudgets(head.run_id, budget);
  const payers = runs.map((runId) => ({ kind: "run", runId }) as const);
  if (month === undefined) return { payers };
  const limit = team?.budget_usd_month;
  if (limit === undefined) return { payers, countedIn: month };
  return { payers: [...payers, { kind: "month", month, limit: toNanoUsd(limit) }] };
}
