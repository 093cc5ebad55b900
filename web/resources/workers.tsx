import { queryOptions, useQuery } from "@tanstack/react-query";
import { Server } from "lucide-react";
import type { WorkerItem } from "../../clients/typescript/src/index.ts";
import { API_BASE, client } from "../api/client.ts";
import { collect } from "../api/queries.ts";
import { Code } from "../ui/code.tsx";
import { plural } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Empty, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

const workersQuery = queryOptions({
  queryKey: ["workers"],
  refetchInterval: 15_000,
  queryFn: ({ signal }) => collect(client.workers.list({}, { signal })),
});

const START = `export RUNYARD_API_KEY=rya_…
runyard worker --id NAME --server ${location.origin}`;

/** The self-hosted workers that are connected. */
export function Workers() {
  const query = useQuery(workersQuery);
  return (
    <section className="card" aria-label="Workers">
      <div className="card-head">
        <h2>Self-hosted workers</h2>
      </div>
      <Loaded query={query} rows={1}>
        {(workers) =>
          workers.length === 0 ? (
            <Empty icon={<Server size={26} aria-hidden />} title="No connected workers">
              <p>A worker executes runs on a machine of yours. Start one there, with an API key of the team:</p>
              <Code text={START} language="sh" />
              <p>
                Then name it as the worker of an environment.{" "}
                <a href={`${API_BASE}/docs/reference/listWorkers`}>API reference</a>
              </p>
            </Empty>
          ) : (
            <ul className="item-list">
              {workers.map((worker) => (
                <WorkerRow key={worker.worker_host} worker={worker} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

const WorkerRow = ({ worker }: { readonly worker: WorkerItem }) => (
  <li className="item item-short">
    <div className="item-main">
      <span className="item-title">{revealHidden(worker.worker_host)}</span>
      <p className="item-facts">{plural(worker.connection_count, "connection")}</p>
    </div>
    <div className="item-side">
      <span>
        Connected <Time at={worker.connected_at} />
      </span>
      <span className="faint">
        Last seen <Time at={worker.last_seen_at} />
      </span>
    </div>
  </li>
);
