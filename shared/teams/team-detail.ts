import { readTeamInMonth, spentAt } from "#shared/budgets/budget-store.ts";
import { teamMonth } from "#shared/budgets/team-month.ts";
import { notFound } from "#shared/errors.ts";
import { toRoundedUsd } from "#shared/records/money.ts";
import { toTeamItem } from "#shared/records/team.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { MonthlySpending, TeamDetail } from "#shared/wire/team.ts";
import type { TeamPorts } from "./team-ports.ts";

/**
 * Reads a team with what its runs have spent in the current month.
 * @throws RunyardError 404 where there is no such team
 */
export async function readTeamDetail(
  uid: string,
  { table, now }: Pick<TeamPorts, "table" | "now">,
): Promise<TeamDetail> {
  const at = now();
  const month = teamMonth(uid, at);
  const { team, budget } = await readTeamInMonth(month, table);
  if (team === undefined) throw notFound("team");
  const spending: MonthlySpending = {
    budget_usd: team.budget_usd_month ?? null,
    spent_usd: toRoundedUsd(spentAt(budget, at)),
    renews_at: toTimestamp(month.endsAt),
  };
  return { ...toTeamItem(team), month: spending };
}
