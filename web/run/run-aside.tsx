import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";
import type { RunEvent, RunItem } from "../../clients/typescript/src/index.ts";
import { descendantsQuery } from "../api/queries.ts";
import { CopyButton } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { firstText, formatClock, formatCount, formatDuration, isEnded, toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { part } from "../ui/part.tsx";
import { personName } from "../ui/person-name.ts";
import { toPlainLine } from "../ui/plain-line.ts";
import { showExact, Time } from "../ui/time.tsx";
import { Artifacts } from "./artifacts/artifacts.tsx";
import { Fact } from "./fact.tsx";
import type { Feed } from "./feed.ts";
import { RunCost } from "./run-cost.tsx";

const ChildRuns = part(async () => (await import("./children/child-runs.tsx")).ChildRuns);

interface AsideProps {
  readonly run: RunItem;
  readonly feed: Feed;
}

export function RunAside({ run, feed }: AsideProps) {
  return (
    <aside className="run-aside" aria-label="Details">
      <Section title="Details">
        <Details run={run} />
      </Section>
      <Section title="Artifacts" id="artifacts">
        <Artifacts run={run} />
      </Section>
      <Children run={run} />
      <Section title="Cost">
        <RunCost run={run} events={feed.events} />
      </Section>
      <Section title="Configuration">
        <Configuration run={run} />
      </Section>
      <Section title="Events">
        <Events events={feed.events} />
      </Section>
    </aside>
  );
}

interface SectionProps {
  readonly title: string;
  readonly id?: string;
  readonly children: ReactNode;
}

const Section = ({ title, id, children }: SectionProps) => (
  <section className="card aside-section" id={id}>
    <h2>{title}</h2>
    {children}
  </section>
);

function Details({ run }: { readonly run: RunItem }) {
  const { creator, executor, schedule, metadata = {}, agent_skill: skill } = run;
  return (
    <dl className="facts">
      <Fact name="Run id">
        <span className="fact-copy">
          <code className="truncate">{run.run_id}</code>
          <CopyButton text={run.run_id} label="Copy the run id" />
        </span>
      </Fact>
      <Fact name="Created">
        <Time at={run.created_at} />
      </Fact>
      {run.started_at && (
        <Fact name="Started">
          <Time at={run.started_at} />
        </Fact>
      )}
      <Fact name="Created by">{personName(creator) || creator?.uid}</Fact>
      {executor !== undefined && executor.uid !== creator?.uid && (
        <Fact name="Executed as">{personName(executor) || executor.uid}</Fact>
      )}
      {schedule !== undefined && (
        <Fact name="Schedule">
          <Link to="/schedules/$scheduleId" params={{ scheduleId: schedule.schedule_id }}>
            {revealHidden(schedule.schedule_name)}
          </Link>
        </Fact>
      )}
      {skill?.name !== undefined && <Fact name="Skill">{revealHidden(skill.name)}</Fact>}
      <Fact name="Visible to">{run.scope?.type === "Team" ? "The team" : "Its creator"}</Fact>
      {run.archived === true && <Fact name="Archived">Yes</Fact>}
      {run.agent_config?.session_sharing?.public_access !== undefined && run.session_id !== undefined && (
        <Fact name="Public view">
          <Link to="/shared/$sessionId" params={{ sessionId: run.session_id }}>
            Open the public view
          </Link>
        </Fact>
      )}
      {Object.entries(metadata).map(([name, value]) => (
        <Fact key={name} name={name}>
          {revealHidden(value)}
        </Fact>
      ))}
    </dl>
  );
}

/** The descendants of the run. */
function Children({ run }: { readonly run: RunItem }) {
  const { data = [] } = useQuery(descendantsQuery(run.run_id, !isEnded(run.state)));
  if (data.length === 0) return null;
  return (
    <Section title={`Child runs (${formatCount(data.length)})`}>
      <Suspense>
        <ChildRuns run={run} descendants={data} />
      </Suspense>
    </Section>
  );
}

function Configuration({ run }: { readonly run: RunItem }) {
  const text = JSON.stringify(run.agent_config ?? {}, undefined, 2);
  return (
    <details className="folded">
      <summary>Resolved configuration</summary>
      <Code text={revealHidden(text)} language="json" />
    </details>
  );
}

/** Members of an event's data that say most about it, the best first. */
const DETAILS = ["detail", "reason", "message", "filename", "title", "url"];

function Events({ events }: { readonly events: readonly RunEvent[] }) {
  // Calls of models are listed with the cost.
  const visibleEvents = events.filter(({ type }) => type !== "model_called");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <ol className="events" tabIndex={0} aria-label="Events">
      {visibleEvents.map(({ sequence, type, occurred_at, data }) => {
        const took = data["duration_ms"];
        const detail = firstText(DETAILS.map((name) => data[name]));
        const isBad =
          data["is_error"] === true || type === "execution_lost" || type === "run_failed" || type === "run_errored";
        return (
          <li key={sequence} className={isBad ? "event tone-bad" : "event"}>
            <span className="event-name">{toWords(type)}</span>
            <time dateTime={occurred_at} onPointerEnter={showExact} className="faint">
              {formatClock(occurred_at)}
            </time>
            {(typeof took === "number" || detail !== undefined) && (
              <span className="event-detail">
                {typeof took === "number" && formatDuration(took)}
                {typeof took === "number" && detail !== undefined && " · "}
                {detail !== undefined && revealHidden(toPlainLine(detail))}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
