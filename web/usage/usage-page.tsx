import "../styles/usage.css";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { environmentsQuery, peopleQuery, schedulesQuery } from "../api/queries.ts";
import { useMe } from "../api/session.ts";
import { readUsage, USAGE_GROUPS, type UsageBucket, type UsageGroup } from "../api/usage.ts";
import type { RunSearch } from "../runs/run-search.ts";
import { formatCompact, formatCount, formatDuration, formatUsd, toWords } from "../ui/format.ts";
import { Page } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/status.tsx";
import { CostliestRuns } from "./costliest-runs.tsx";
import { DayChart } from "./day-chart.tsx";
import { formatChange, splitPeriods, toDay } from "./figures.ts";
import { MonthBudgets } from "./month-budget.tsx";
import { ShareTable } from "./share-table.tsx";

const PERIODS = [7, 30, 90] as const;
const GROUPS = USAGE_GROUPS.filter((group) => group !== "day");

const useUsage = (group: UsageGroup, days: number) =>
  useQuery({
    queryKey: ["usage", group, days],
    queryFn: ({ signal }) => readUsage(group, days, signal),
    staleTime: 60_000,
  });

export function UsagePage() {
  const [days, setDays] = useState<number>(30);
  // With the period before, to compare with.
  const perDay = useUsage("day", days * 2);
  return (
    <Page title="Usage" lead="Ended runs, by days in UTC." actions={<Period days={days} onChange={setDays} />}>
      <div className="stack">
        <MonthBudgets />
        <Loaded query={perDay}>
          {(buckets) => {
            const { current, previous } = splitPeriods(buckets, days);
            return current.length === 0 ? (
              <section className="card">
                <Empty title="No usage in this period">
                  <p>Usage appears when runs end.</p>
                </Empty>
              </section>
            ) : (
              <>
                <Totals buckets={current} previous={previous} />
                <DayChart buckets={current} days={days} />
              </>
            );
          }}
        </Loaded>
        <Shares days={days} />
        <CostliestRuns days={days} />
      </div>
    </Page>
  );
}

const Period = ({ days, onChange }: { readonly days: number; readonly onChange: (days: number) => void }) => (
  <fieldset className="views">
    <legend className="visually-hidden">Period</legend>
    {PERIODS.map((period) => (
      <button
        key={period}
        type="button"
        className="view"
        aria-pressed={period === days}
        onClick={() => onChange(period)}
      >
        {period} days
      </button>
    ))}
  </fieldset>
);

interface TotalsProps {
  readonly buckets: readonly UsageBucket[];
  /** Those of the period before. */
  readonly previous: readonly UsageBucket[];
}

function Totals({ buckets, previous }: TotalsProps) {
  const [now, before] = [sumUp(buckets), sumUp(previous)];
  const rate = ({ runs, succeeded }: ReturnType<typeof sumUp>) =>
    runs === 0 ? "–" : `${Math.round((succeeded / runs) * 100)} %`;
  const figures: readonly (readonly [string, string, string | undefined])[] = [
    ["Cost", formatUsd(now.cost), formatChange(now.cost, before.cost)],
    ...(now.compute > 0
      ? ([["Compute", formatUsd(now.compute), formatChange(now.compute, before.compute)]] as const)
      : []),
    ["Runs", formatCount(now.runs), formatChange(now.runs, before.runs)],
    ["Succeeded", rate(now), before.runs === 0 ? undefined : `${rate(before)} before`],
    ["Tokens", formatCompact(now.tokens), formatChange(now.tokens, before.tokens)],
    ["Run time", formatDuration(now.seconds * 1000), formatChange(now.seconds, before.seconds)],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value, change]) => (
        <div key={name} className="card figure">
          <dt>{name}</dt>
          <dd className="number">{value}</dd>
          {change !== undefined && <dd className="figure-change">{change}</dd>}
        </div>
      ))}
    </dl>
  );
}

function sumUp(buckets: readonly UsageBucket[]) {
  const sum = (value: (bucket: UsageBucket) => number) => buckets.reduce((total, bucket) => total + value(bucket), 0);
  return {
    cost: sum(({ cost_usd }) => cost_usd),
    compute: sum(({ compute_cost_usd }) => compute_cost_usd ?? 0),
    runs: sum(({ runs }) => runs),
    succeeded: sum(({ succeeded }) => succeeded),
    tokens: sum(({ total_tokens }) => total_tokens),
    seconds: sum(({ run_seconds }) => run_seconds),
  };
}

/** The filters of the list of runs that select what a bucket counts, if there are any. */
function toRunSearch(group: UsageGroup, key: string | null, days: number): RunSearch | undefined {
  const name = FILTERS[group];
  const value = key ?? (group === "environment" ? "empty-environment" : undefined);
  if (name === undefined || value === undefined) return undefined;
  return { [name]: value, after: toDay(days - 1), archived: "all" };
}

const FILTERS: Readonly<Partial<Record<UsageGroup, keyof RunSearch>>> = {
  model: "model",
  creator: "creator",
  executor: "agent",
  schedule: "schedule",
  environment: "environment",
};

function Shares({ days }: { readonly days: number }) {
  const [group, setGroup] = useState<UsageGroup>("model");
  const query = useUsage(group, days);
  const names = useNames(group);
  return (
    <section className="card" aria-label="Shares">
      <div className="card-head shares-head">
        <h2>By {group}</h2>
        <fieldset className="views">
          <legend className="visually-hidden">Group by</legend>
          {GROUPS.map((one) => (
            <button key={one} type="button" className="view" aria-pressed={one === group} onClick={() => setGroup(one)}>
              {toWords(one)}
            </button>
          ))}
        </fieldset>
      </div>
      <Loaded query={query} rows={3}>
        {(buckets) =>
          buckets.length === 0 ? (
            <p className="card-body faint">No usage in this period.</p>
          ) : (
            <ShareTable buckets={buckets} names={names} toSearch={(key) => toRunSearch(group, key, days)} />
          )
        }
      </Loaded>
    </section>
  );
}

/** The names of the ids that a group's buckets have. */
function useNames(group: UsageGroup): ReadonlyMap<string, string> {
  const { teams } = useMe();
  const isPerson = group === "creator" || group === "executor";
  const people = useQuery({ ...peopleQuery(teams.map(({ uid }) => uid)), enabled: isPerson }).data ?? [];
  const schedules = useQuery({ ...schedulesQuery, enabled: group === "schedule" }).data ?? [];
  const environments = useQuery({ ...environmentsQuery, enabled: group === "environment" }).data ?? [];
  return new Map([
    ...people.map(({ uid, name }) => [uid, name] as const),
    ...schedules.map(({ id, name }) => [id, name] as const),
    ...environments.map(({ uid, config }) => [uid, config.name] as const),
  ]);
}
