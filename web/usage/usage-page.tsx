import "../styles/usage.css";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { environmentsQuery, peopleQuery, schedulesQuery } from "../api/queries.ts";
import { useMe } from "../api/session.ts";
import { readUsage, USAGE_GROUPS, type UsageBucket, type UsageGroup } from "../api/usage.ts";
import { formatCompact, formatCount, formatDuration, formatUsd, toWords } from "../ui/format.ts";
import { Page } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/status.tsx";
import { DayChart } from "./day-chart.tsx";
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
  const perDay = useUsage("day", days);
  return (
    <Page title="Usage" lead="Ended runs, by days in UTC." actions={<Period days={days} onChange={setDays} />}>
      <div className="stack">
        <Loaded query={perDay}>
          {(buckets) =>
            buckets.length === 0 ? (
              <section className="card">
                <Empty title="No usage in this period">
                  <p>Usage appears when runs end.</p>
                </Empty>
              </section>
            ) : (
              <>
                <Totals buckets={buckets} />
                <DayChart buckets={buckets} days={days} />
              </>
            )
          }
        </Loaded>
        <Shares days={days} />
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

function Totals({ buckets }: { readonly buckets: readonly UsageBucket[] }) {
  const sum = (value: (bucket: UsageBucket) => number) => buckets.reduce((total, bucket) => total + value(bucket), 0);
  const runs = sum((bucket) => bucket.runs);
  const figures: readonly (readonly [string, string])[] = [
    ["Cost", formatUsd(sum((bucket) => bucket.cost_usd))],
    ["Runs", formatCount(runs)],
    ["Succeeded", runs === 0 ? "–" : `${Math.round((sum((bucket) => bucket.succeeded) / runs) * 100)} %`],
    ["Tokens", formatCompact(sum((bucket) => bucket.total_tokens))],
    ["Run time", formatDuration(sum((bucket) => bucket.run_seconds) * 1000)],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value]) => (
        <div key={name} className="card figure">
          <dt>{name}</dt>
          <dd className="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

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
            <ShareTable buckets={buckets} names={names} />
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
