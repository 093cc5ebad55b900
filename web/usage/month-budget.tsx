import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { teamQuery } from "../api/queries.ts";
import { useMe } from "../api/session.ts";
import { formatDay, formatUsd } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { LoadingRows } from "../ui/status.tsx";
import { projectMonth } from "./figures.ts";

/** The current month of each team that the person administers, against its budget. */
export const MonthBudgets = () =>
  useMe()
    .teams.filter(({ role }) => role === "admin")
    .map(({ uid }) => <MonthBudget key={uid} teamUid={uid} />);

function MonthBudget({ teamUid }: { readonly teamUid: string }) {
  const { data: team, error } = useQuery(teamQuery(teamUid));
  if (team === undefined) return error === null ? <LoadingRows rows={2} /> : null;
  const { budget_usd: budget, spent_usd: spent, renews_at: renewsAt } = team.month;
  const projected = projectMonth(spent, renewsAt, Date.now());
  const isOver = budget !== null && (projected ?? spent) > budget;
  return (
    <section className="card card-body budget" aria-label={`This month of ${revealHidden(team.name)}`}>
      <div className="budget-head">
        <h2>This month, {revealHidden(team.name)}</h2>
        <span className="number">
          <strong>{formatUsd(spent)}</strong> {budget === null ? "spent" : `of ${formatUsd(budget)}`}
        </span>
      </div>
      {budget === null ? (
        <p className="faint">
          No budget.{" "}
          <Link to="/settings/$section" params={{ section: "team" }}>
            Set one
          </Link>
        </p>
      ) : (
        <meter
          className="budget-meter"
          aria-label="Spent of the budget"
          min={0}
          max={Math.max(budget, spent, 0.01)}
          high={budget * 0.8}
          value={spent}
        >
          {formatUsd(spent)} of {formatUsd(budget)}
        </meter>
      )}
      <p className={isOver ? "field-error" : "item-facts"}>
        {projected !== undefined && <span>At this pace, {formatUsd(projected)} by the end of the month. </span>}
        <span>The next month begins {formatDay(renewsAt.slice(0, 10))} (UTC).</span>
      </p>
    </section>
  );
}
