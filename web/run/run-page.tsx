import "../styles/run.css";
import "../styles/text.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowDown } from "lucide-react";
import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { runQuery } from "../api/queries.ts";
import { queryClient, refreshQueries } from "../api/query-client.ts";
import { totalChanges } from "../runs/run-outcome.ts";
import { Button } from "../ui/button.tsx";
import { isEnded } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { MarkdownView } from "../ui/markdown/markdown.tsx";
import { useTitle } from "../ui/page.tsx";
import { part } from "../ui/part.tsx";
import { ErrorNotice, LoadingRows } from "../ui/status.tsx";
import { PlanDetails, Terminal } from "./action-body.tsx";
import { Conversation, StepTools } from "./conversation.tsx";
import type { Entry } from "./feed.ts";
import { withoutEnd } from "./outcome/outcome.ts";
import { OutcomeFacts, RunOutcome } from "./outcome/run-outcome.tsx";
import { RunActions, RunHeader } from "./run-header.tsx";
import { type FollowedRun, useFeed } from "./use-feed.ts";
import { useStickToEnd } from "./use-stick-to-end.ts";

const Composer = part(async () => (await import("./composer.tsx")).Composer);
const ApprovalCard = part(async () => (await import("./approval-card.tsx")).ApprovalCard);
const RunAside = part(async () => (await import("./run-aside.tsx")).RunAside);
const Timeline = part(async () => (await import("./timeline.tsx")).Timeline);
const PendingFollowups = part(async () => (await import("./pending-followups.tsx")).PendingFollowups);
const RepositoryChanges = part(async () => (await import("./changes/repository-changes.tsx")).RepositoryChanges);

/** What each run shows, loaded ahead, so that nothing moves when it comes. */
const PARTS = [RunActions, Composer, RunAside, Timeline, OutcomeFacts, StepTools, MarkdownView, Terminal, PlanDetails];
const loadParts = () => Promise.all(PARTS.map((one) => one.load()));

const route = getRouteApi("/shell/runs/$runId");

/** Reads what the page shows first. */
export const readRunPage = (runId: string): Promise<unknown> =>
  Promise.all([queryClient.prefetchQuery(runQuery(runId)), loadParts()]);

export function RunPage() {
  const { runId } = route.useParams();
  return <FollowedRunPage key={runId} runId={runId} />;
}

/** Reads the run and its events at the same time. */
function FollowedRunPage({ runId }: { readonly runId: string }) {
  const { data: run, error, refetch } = useQuery(runQuery(runId));
  useTitle(revealHidden(run?.title.trim() ?? "") || "Run");
  const followed = useFeed(runId);
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    const show = () => setLoaded(true);
    // A part that could not be loaded is tried again where it is shown.
    loadParts().then(show, show);
  }, []);
  const retry = () => {
    void refetch();
    followed.refresh();
  };
  if (run !== undefined) return <LoadedRun run={run} followed={followed} isLoaded={isLoaded} />;
  return (
    <div className="page">
      {error === null ? <LoadingRows rows={8} height={72} /> : <ErrorNotice error={error} onRetry={retry} />}
    </div>
  );
}

interface LoadedProps {
  readonly run: RunItem;
  readonly followed: FollowedRun;
  readonly isLoaded: boolean;
}

function LoadedRun({ run, followed, isLoaded }: LoadedProps) {
  const { connection, position, error, refresh } = followed;
  const changed = () => {
    void refreshQueries({ queryKey: runQuery(run.run_id).queryKey });
    refresh();
  };
  return (
    <div className="page page-run">
      <RunHeader run={run} connection={connection} position={position} onChanged={changed} />
      {!isLoaded || (connection === "loading" && error === undefined) ? (
        <LoadingRows rows={6} height={72} />
      ) : (
        <RunBody run={run} followed={followed} onChanged={changed} />
      )}
    </div>
  );
}

interface BodyProps {
  readonly run: RunItem;
  readonly followed: FollowedRun;
  readonly onChanged: () => void;
}

/** All below the header. It is shown once the first events are there: what it begins with depends on them. */
function RunBody({ run, followed, onChanged }: BodyProps) {
  const { feed, error, refresh } = followed;
  const entries = useMemo(() => [promptEntry(run), ...withoutEnd(run, feed.entries)], [run, feed.entries]);
  const stick = useStickToEnd(entries, !isEnded(run.state));
  const foot = useFootHeight();
  return (
    <>
      {run.approval === undefined ? (
        <RunOutcome run={run} feed={feed} />
      ) : (
        <Suspense>
          <ApprovalCard
            key={run.approval.approval_id}
            run={run}
            approval={run.approval}
            entries={entries}
            onChanged={onChanged}
          />
        </Suspense>
      )}
      <Suspense fallback={<div className="card timeline timeline-live" />}>
        <Timeline run={run} feed={feed} />
      </Suspense>
      <div className="run-columns">
        <section className="run-main" aria-label="Conversation" ref={stick.content}>
          {error === undefined ? <Conversation entries={entries} /> : <ErrorNotice error={error} onRetry={refresh} />}
          <RunEnd run={run} onChanged={onChanged} />
        </section>
        <div className="run-foot" ref={foot}>
          {!stick.isAtEnd && (
            <Button small className="to-end" icon={<ArrowDown size={14} aria-hidden />} onClick={stick.toEnd}>
              Latest
            </Button>
          )}
          <Suspense>
            <Composer run={run} onSent={onChanged} />
          </Suspense>
        </div>
        <Suspense fallback={<aside className="run-aside" aria-label="Details" />}>
          <RunAside run={run} feed={feed} />
        </Suspense>
      </div>
    </>
  );
}

/** Keeps as much room below the columns as the composer, which lies over them, needs. */
function useFootHeight() {
  const foot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = foot.current;
    if (element === null) return;
    const observer = new ResizeObserver(() =>
      element.parentElement?.style.setProperty("--foot", `${element.offsetHeight}px`),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return foot;
}

/** What follows the conversation: the changes of repositories, and the follow-ups that the agent has not taken yet. */
const RunEnd = ({ run, onChanged }: Omit<BodyProps, "followed">) => (
  <Suspense>
    {totalChanges(run) !== undefined && <RepositoryChanges run={run} onChanged={onChanged} />}
    {(run.pending_followups ?? 0) > 0 && <PendingFollowups run={run} onChanged={onChanged} />}
  </Suspense>
);

/** The prompt is not among the events; it opens the conversation. */
function promptEntry(run: RunItem): Entry {
  const text = run.prompt || (run.agent_config?.skill_spec ?? "");
  return { kind: "text", key: "prompt", at: run.created_at, role: "user", text };
}
