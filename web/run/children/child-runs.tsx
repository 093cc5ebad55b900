import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import { client } from "../../api/client.ts";
import { costOf } from "../../runs/cost-of.ts";
import { formatDuration, formatUsd, isEnded } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import { StateIcon, stateTone } from "../../ui/run-state.tsx";
import { useNow } from "../../ui/time.tsx";
import { actionTitle } from "../action-text.ts";
import { addEvents, emptyFeed, type Feed } from "../feed.ts";
import { type ChildSpan, toChildSpans } from "./child-spans.ts";

interface ChildRunsProps {
  readonly run: RunItem;
  readonly descendants: readonly RunItem[];
}

/** The descendants of a run as a tree, each with its state, cost and last step, and with its time on one axis for all. */
export function ChildRuns({ run, descendants }: ChildRunsProps) {
  return [run, ...descendants].every(({ state }) => isEnded(state)) ? (
    <Tree run={run} descendants={descendants} now={Date.parse(run.finished_at ?? run.updated_at)} />
  ) : (
    <LiveTree run={run} descendants={descendants} />
  );
}

const LiveTree = (props: ChildRunsProps) => <Tree {...props} now={useNow()} />;

function Tree({ run, descendants, now }: ChildRunsProps & { readonly now: number }) {
  const byParent = useMemo(() => Map.groupBy(descendants, ({ parent_run_id }) => parent_run_id ?? ""), [descendants]);
  const spans = useMemo(() => toChildSpans([run, ...descendants], now), [run, descendants, now]);
  return <Branch parent={run.run_id} byParent={byParent} spans={spans} />;
}

interface BranchProps {
  readonly parent: string;
  readonly byParent: ReadonlyMap<string, readonly RunItem[]>;
  readonly spans: ReadonlyMap<string, ChildSpan>;
}

function Branch({ parent, byParent, spans }: BranchProps) {
  const runs = byParent.get(parent) ?? [];
  if (runs.length === 0) return null;
  return (
    <ul className="tree">
      {runs.map((run) => (
        <li key={run.run_id}>
          <ChildRun run={run} span={spans.get(run.run_id)} />
          <Branch parent={run.run_id} byParent={byParent} spans={spans} />
        </li>
      ))}
    </ul>
  );
}

function ChildRun({ run, span }: { readonly run: RunItem; readonly span: ChildSpan | undefined }) {
  const cost = costOf(run);
  const { started_at: start, finished_at: end } = run;
  const took = start && end ? formatDuration(Date.parse(end) - Date.parse(start)) : undefined;
  return (
    <div className="child-run">
      <Link to="/runs/$runId" params={{ runId: run.run_id }} className="tree-run">
        <StateIcon state={run.state} size={15} />
        <span className="truncate">{revealHidden(run.title)}</span>
        {cost > 0 && <span className="number">{formatUsd(cost)}</span>}
      </Link>
      {span !== undefined && (
        <div className={`child-track tone-${stateTone(run.state)}`} title={took}>
          <div
            className="child-bar"
            style={{ left: `${Math.min(98, span.left)}%`, width: `max(3px, ${span.width}%)` }}
          />
        </div>
      )}
      {isEnded(run.state) ? <LastStep text={run.status_message?.message} /> : <LiveStep runId={run.run_id} />}
    </div>
  );
}

const LastStep = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? null : <p className="faint truncate">{revealHidden(text.slice(0, 200))}</p>;

/** What a run that goes on has done last. Only what is new is read again. */
function LiveStep({ runId }: { readonly runId: string }) {
  const { data } = useQuery({
    queryKey: ["run", runId, "last-step"],
    refetchInterval: 5000,
    queryFn: async ({ signal, client: queries, queryKey }) => {
      const known = queries.getQueryData<Feed>(queryKey) ?? emptyFeed;
      const { events } = await client.runs.listEvents(runId, { after: known.last }, { signal });
      const feed = addEvents(known, events);
      return { ...feed, entries: feed.entries.slice(-1), events: [] };
    },
  });
  const last = data?.entries.at(-1);
  return (
    <LastStep text={last?.kind === "action" ? actionTitle(last).text : last?.kind === "text" ? last.text : undefined} />
  );
}
