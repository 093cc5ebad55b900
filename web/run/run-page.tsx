import "../styles/run.css";
import "../styles/text.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowDown } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { runQuery } from "../api/queries.ts";
import { queryClient, refreshQueries } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { isEnded } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { preloadMarkdown } from "../ui/markdown.tsx";
import { useTitle } from "../ui/page.tsx";
import { ErrorNotice, LoadingRows } from "../ui/status.tsx";
import { Conversation } from "./conversation.tsx";
import type { Entry } from "./feed.ts";
import { RunBanner } from "./run-banner.tsx";
import { RunHeader } from "./run-header.tsx";
import { Timeline } from "./timeline.tsx";
import { type FollowedRun, useFeed } from "./use-feed.ts";
import { useStickToEnd } from "./use-stick-to-end.ts";

// At the end of the page, below the conversation.
const Composer = lazy(async () => ({ default: (await import("./composer.tsx")).Composer }));
const ApprovalCard = lazy(async () => ({ default: (await import("./approval-card.tsx")).ApprovalCard }));
const RunAside = lazy(async () => ({ default: (await import("./run-aside.tsx")).RunAside }));
const PendingFollowups = lazy(async () => ({
  default: (await import("./pending-followups.tsx")).PendingFollowups,
}));
const RepositoryChanges = lazy(async () => ({
  default: (await import("./changes/repository-changes.tsx")).RepositoryChanges,
}));

const route = getRouteApi("/shell/runs/$runId");

/** Reads what the page shows first. */
export const readRunPage = (runId: string): Promise<void> => queryClient.prefetchQuery(runQuery(runId));

export function RunPage() {
  const { runId } = route.useParams();
  return <FollowedRunPage key={runId} runId={runId} />;
}

/** Reads the run and its events at the same time. */
function FollowedRunPage({ runId }: { readonly runId: string }) {
  const { data: run, error, refetch } = useQuery(runQuery(runId));
  useTitle(revealHidden(run?.title.trim() ?? "") || "Run");
  const followed = useFeed(runId);
  useEffect(preloadMarkdown, []);
  const retry = () => {
    void refetch();
    followed.refresh();
  };
  if (run !== undefined) return <LoadedRun run={run} followed={followed} />;
  return (
    <div className="page">
      {error === null ? <LoadingRows rows={8} height={72} /> : <ErrorNotice error={error} onRetry={retry} />}
    </div>
  );
}

function LoadedRun({ run, followed }: { readonly run: RunItem; readonly followed: FollowedRun }) {
  const { feed, connection, position, error, refresh } = followed;
  const entries = useMemo(() => [promptEntry(run), ...feed.entries], [run, feed.entries]);
  const stick = useStickToEnd(entries, !isEnded(run.state));
  const changed = () => {
    void refreshQueries({ queryKey: runQuery(run.run_id).queryKey });
    refresh();
  };
  return (
    <div className="page page-run">
      <RunHeader run={run} connection={connection} position={position} onChanged={changed} />
      {run.approval === undefined ? (
        <RunBanner run={run} entries={entries} />
      ) : (
        <Suspense>
          <ApprovalCard
            key={run.approval.approval_id}
            run={run}
            approval={run.approval}
            entries={entries}
            onChanged={changed}
          />
        </Suspense>
      )}
      <Timeline run={run} feed={feed} />
      <div className="run-columns">
        <section className="run-main" aria-label="Conversation" ref={stick.content}>
          {error === undefined ? <Conversation entries={entries} /> : <ErrorNotice error={error} onRetry={refresh} />}
          {connection === "loading" && error === undefined && <LoadingRows rows={3} height={72} />}
          {run.artifacts?.some((one) => one.artifact_type === "FILE" && one.data.git !== undefined) === true && (
            <Suspense>
              <RepositoryChanges run={run} />
            </Suspense>
          )}
          {(run.pending_followups ?? 0) > 0 && (
            <Suspense>
              <PendingFollowups run={run} onChanged={changed} />
            </Suspense>
          )}
          <div className="run-foot">
            {!stick.isAtEnd && (
              <Button small className="to-end" icon={<ArrowDown size={14} aria-hidden />} onClick={stick.toEnd}>
                Latest
              </Button>
            )}
            <Suspense>
              <Composer run={run} onSent={changed} />
            </Suspense>
          </div>
        </section>
        <Suspense fallback={<aside className="run-aside" aria-label="Details" />}>
          <RunAside run={run} feed={feed} />
        </Suspense>
      </div>
    </div>
  );
}

/** The prompt is not among the events; it opens the conversation. */
function promptEntry(run: RunItem): Entry {
  const text = run.prompt || (run.agent_config?.skill_spec ?? "");
  return { kind: "text", key: "prompt", at: run.created_at, role: "user", text };
}
