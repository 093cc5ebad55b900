import "../styles/strip.css";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { formatExact, formatUsd, plural } from "../ui/format.ts";
import { stateLabel, stateTone } from "../ui/run-state.tsx";
import { LoadingRows } from "../ui/status.tsx";
import { Strip } from "../ui/strip.tsx";
import { Time } from "../ui/time.tsx";
import { type Health, readHealth } from "./health.ts";

/** Runs in a strip. A row of a list costs one request for them, once it is visible. */
const MAX_RUNS = 12;

/** What starts runs or takes part in them, by the filter of the list of runs that selects them. */
const FILTERS = { schedule: "schedule_id", trigger: "trigger_id", environment: "environment_id", agent: "executor" };

interface Subject {
  readonly kind: keyof typeof FILTERS;
  readonly id: string;
}

/** The latest runs, newest first. */
export function useLatestRuns({ kind, id }: Subject, isVisible = true) {
  return useQuery({
    queryKey: ["latest-runs", kind, id],
    enabled: isVisible,
    staleTime: 60_000,
    refetchOnWindowFocus: true,
    queryFn: async ({ signal }) => {
      const query = { [FILTERS[kind]]: id, sort_by: "created_at", archived: "all", limit: MAX_RUNS } as const;
      return (await client.runs.list(query, { signal })).body.runs;
    },
  });
}

/** Whether an element has been on the screen. */
function useIsVisible() {
  const element = useRef<HTMLDivElement>(null);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setVisible(true));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { element, isVisible };
}

interface RowHealthProps extends Subject {
  /** Whether the row itself shows since when the runs fail, and when the latest one was. */
  readonly hasOwnTimes?: boolean;
}

/** The outcomes of the latest runs in a row of a list. */
export function RowHealth({ kind, id, hasOwnTimes = false }: RowHealthProps) {
  const { element, isVisible } = useIsVisible();
  const { data: runs } = useLatestRuns({ kind, id }, isVisible);
  const health = runs && readHealth(runs);
  const [latest] = runs ?? [];
  return (
    <div ref={element} className="row-health">
      {runs?.length === 0 && <span className="faint">No runs yet</span>}
      {runs !== undefined && runs.length > 0 && (
        <Link to="/runs" search={{ [kind]: id }} className="mini-strip">
          <span className="visually-hidden">Latest runs: {describe(runs)}. Show them</span>
          {runs.toReversed().map(({ run_id, state }) => (
            <span key={run_id} className={`mini-tick tone-${stateTone(state)}`} aria-hidden />
          ))}
        </Link>
      )}
      {health !== undefined && <Facts health={health} />}
      {!hasOwnTimes && latest !== undefined && (
        <span className="faint">
          latest <Time at={latest.created_at} />
        </span>
      )}
      {!hasOwnTimes && health?.failingSince !== undefined && (
        <span className="field-error">
          Failing since <Time at={health.failingSince} />
        </span>
      )}
    </div>
  );
}

const Facts = ({ health: { succeeded, failed, costUsd = 0 } }: { readonly health: Health }) =>
  succeeded + failed > 0 && (
    <span className="health-facts">
      {Math.round((succeeded / (succeeded + failed)) * 100)} % succeeded
      {costUsd > 0 && ` · ${formatUsd(costUsd)} a run`}
    </span>
  );

/** "2 succeeded, 1 failed". */
function describe(runs: readonly RunItem[]): string {
  const counts = new Map<string, number>();
  for (const { state } of runs) counts.set(stateLabel(state), (counts.get(stateLabel(state)) ?? 0) + 1);
  return [...counts].map(([label, count]) => `${count} ${label.toLowerCase()}`).join(", ");
}

/** The outcomes of the latest runs as a part of a page, followed by further facts about the health. */
export function HealthCard({ kind, id, children }: Subject & { readonly children?: ReactNode }) {
  const { data: runs, error } = useLatestRuns({ kind, id });
  const { costUsd = 0, failingSince } = readHealth(runs ?? []);
  return (
    <section className="card card-body stack" aria-label="Health">
      <div className="health-head">
        <h2>Health</h2>
        <Link to="/runs" search={{ [kind]: id }}>
          All runs
        </Link>
      </div>
      {runs === undefined && error === null && <LoadingRows rows={1} height={28} />}
      {runs === undefined && error !== null && <p className="faint">The runs could not be read.</p>}
      {runs?.length === 0 && <p className="faint">No runs yet.</p>}
      {runs !== undefined && runs.length > 0 && (
        <>
          <Strip
            label="States of the latest runs"
            items={runs.map(({ run_id, state, created_at }) => ({
              id: run_id,
              text: `${formatExact(created_at)}: ${stateLabel(state)}`,
              tone: stateTone(state),
              runId: run_id,
            }))}
          />
          <p className="item-facts">
            <span>
              {runs.length === 1 ? "The only run" : `The last ${plural(runs.length, "run")}`}: {describe(runs)}
            </span>
            {costUsd > 0 && <span>{formatUsd(costUsd)} a run</span>}
          </p>
          {failingSince !== undefined && (
            <p className="field-error">
              Failing since <Time at={failingSince} />
            </p>
          )}
        </>
      )}
      {children}
    </section>
  );
}
