import "../styles/run.css";
import "../styles/text.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import * as v from "valibot";
import { client } from "../api/client.ts";
import { isNotFound } from "../api/problem.ts";
import { Conversation } from "../run/conversation.tsx";
import { formatDuration, isEnded, parseDuration, plural } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { useTitle } from "../ui/page.tsx";
import { StateBadge } from "../ui/run-state.tsx";
import { Empty, ErrorNotice, LoadingRows } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { PublicRun, toEntries } from "./public-run.ts";

const route = getRouteApi("/shared/$sessionId");

/** A run that anyone with the link may read: no names of people, no configuration. */
export function PublicRunPage() {
  const { sessionId } = route.useParams();
  const { data, error, refetch } = useQuery({
    queryKey: ["public-run", sessionId],
    queryFn: async ({ signal }) => {
      const path = `/public/runs/${encodeURIComponent(sessionId)}`;
      return v.parse(PublicRun, await client.request({ method: "GET", path, options: { signal } }));
    },
    refetchInterval: ({ state }) => (state.data !== undefined && isEnded(state.data.state) ? false : 5000),
  });
  return (
    <main className="page page-narrow">
      {data !== undefined && <PublicRunView run={data} />}
      {data === undefined && error === null && <LoadingRows />}
      {data === undefined && error !== null && isNotFound(error) && (
        <Empty title="Nothing is shared here">
          <p>The run does not exist, or it is not public.</p>
        </Empty>
      )}
      {data === undefined && error !== null && !isNotFound(error) && (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </main>
  );
}

function PublicRunView({ run }: { readonly run: PublicRun }) {
  useTitle(run.title);
  const took = parseDuration(run.run_time);
  const artifacts = run.artifacts?.length ?? 0;
  return (
    <>
      <header className="run-head">
        <span className="brand">
          <img src="/icon.svg" alt="" width="24" height="24" />
          Runyard
        </span>
        <h1>{revealHidden(run.title)}</h1>
        <div className="run-facts">
          <StateBadge state={run.state} />
          <Time at={run.created_at} />
          {took !== undefined && took > 0 && <span className="number">{formatDuration(took)}</span>}
          {artifacts > 0 && <span>{plural(artifacts, "artifact")}</span>}
        </div>
      </header>
      <Conversation entries={toEntries(run)} />
    </>
  );
}
