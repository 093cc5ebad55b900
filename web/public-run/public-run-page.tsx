import "../styles/run.css";
import "../styles/text.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import * as v from "valibot";
import { API_BASE, client } from "../api/client.ts";
import { isNotFound } from "../api/problem.ts";
import { artifactName } from "../run/artifacts/artifact-name.ts";
import { Conversation } from "../run/conversation.tsx";
import { titleOf } from "../runs/title-of.ts";
import { formatBytes, formatDuration, isEnded, parseDuration } from "../ui/format.ts";
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
  useTitle(revealHidden(data?.title.trim() ?? "") || "Shared run");
  return (
    <>
      <header className="public-bar">
        <Link to="/" className="brand">
          <img src="/icon.svg" alt="" width="24" height="24" />
          Runyard
        </Link>
        <span className="faint">Shared run</span>
      </header>
      <main className="page page-narrow public-run">
        {data !== undefined && <PublicRunView sessionId={sessionId} run={data} />}
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
    </>
  );
}

function PublicRunView({ sessionId, run }: { readonly sessionId: string; readonly run: PublicRun }) {
  const took = parseDuration(run.run_time);
  return (
    <>
      <header className="run-head">
        <h1>{titleOf(run)}</h1>
        <div className="run-facts">
          <StateBadge state={run.state} />
          <Time at={run.created_at} />
          {took !== undefined && took > 0 && <span className="number">{formatDuration(took)}</span>}
        </div>
        {run.artifacts.length > 0 && (
          <ul className="row" aria-label="Artifacts">
            {run.artifacts.map((artifact, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: artifacts have no ids here, and the order never changes.
              <li key={index} className="chip">
                {artifact.artifact_uid === undefined ? (
                  <span className="truncate">{revealHidden(artifactName(artifact))}</span>
                ) : (
                  <a
                    className="truncate"
                    href={`${API_BASE}/public/runs/${encodeURIComponent(sessionId)}/artifacts/${encodeURIComponent(artifact.artifact_uid)}`}
                  >
                    {revealHidden(artifactName(artifact))}
                  </a>
                )}
                {artifact.size_bytes !== undefined && ` ${formatBytes(artifact.size_bytes)}`}
              </li>
            ))}
          </ul>
        )}
      </header>
      <Conversation entries={toEntries(run)} />
    </>
  );
}
