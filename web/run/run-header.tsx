import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { Suspense } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { costOf } from "../runs/cost-of.ts";
import { RunTime } from "../runs/run-time.tsx";
import { titleOf } from "../runs/title-of.ts";
import { formatCompact, formatCount, formatUsd, isEnded } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { part } from "../ui/part.tsx";
import { runAuthor } from "../ui/person-name.ts";
import { StateBadge, sourceLabel } from "../ui/run-state.tsx";
import { Time } from "../ui/time.tsx";
import type { Connection } from "./use-feed.ts";

/** The actions of a run. */
export const RunActions = part(async () => (await import("./run-actions.tsx")).RunActions);

const CONNECTIONS: Readonly<Record<Exclude<Connection, "ended">, string>> = {
  loading: "Loading",
  live: "Live",
  reconnecting: "Reconnecting",
};

interface HeaderProps {
  readonly run: RunItem;
  readonly connection: Connection;
  readonly position: number | undefined;
  readonly onChanged: () => void;
}

export function RunHeader({ run, connection, position, onChanged }: HeaderProps) {
  return (
    <header className="run-head">
      <nav aria-label="Breadcrumb" className="crumbs">
        <Link to="/runs" search={{}}>
          Runs
        </Link>
        {run.parent_run_id !== undefined && (
          <>
            <ChevronRight size={13} aria-hidden />
            <Link to="/runs/$runId" params={{ runId: run.parent_run_id }}>
              Parent run
            </Link>
          </>
        )}
      </nav>
      <div className="run-title">
        <h1>{titleOf(run)}</h1>
        <Suspense fallback={<div className="page-actions" />}>
          <RunActions run={run} onChanged={onChanged} />
        </Suspense>
      </div>
      <div className="run-facts">
        <span role="status" className="row">
          <StateBadge state={run.state} />
          {run.state === "QUEUED" && position !== undefined && (
            <span>Waiting for capacity, position {formatCount(position)}</span>
          )}
          {/* An ended run needs one response only. A label that is shown so briefly would move the other facts. */}
          {connection !== "ended" && !(connection === "loading" && isEnded(run.state)) && (
            <span className={`connection connection-${connection}`}>{CONNECTIONS[connection]}</span>
          )}
        </span>
        <Facts run={run} />
      </div>
    </header>
  );
}

function Facts({ run }: { readonly run: RunItem }) {
  const { agent_config: config, request_usage: usage } = run;
  const cost = costOf(run);
  return (
    <>
      <span>
        {runAuthor(run)} · {sourceLabel(run.source)}
      </span>
      <Time at={run.created_at} />
      <span className="number">
        <RunTime run={run} />
      </span>
      {config?.model_id !== undefined && <span className="mono truncate">{revealHidden(config.model_id)}</span>}
      {usage?.total_tokens !== undefined && usage.total_tokens > 0 && (
        <span className="number">{formatCompact(usage.total_tokens)} tokens</span>
      )}
      {cost > 0 && <span className="number">{formatUsd(cost)}</span>}
    </>
  );
}
