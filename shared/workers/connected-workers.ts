import type { Table } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { WorkerItem } from "#shared/wire/worker.ts";
import { workerStore } from "./worker-store.ts";

/** What reading the connections of workers needs. */
export interface WorkerReadPorts {
  readonly table: Table;
  readonly now: () => number;
  /** Address of the workers' socket. */
  readonly workerSocketUrl?: string | undefined;
}

/** Finds the workers that are connected to any of the teams, each once, in no order. */
export async function findConnectedWorkers(teams: readonly string[], ports: WorkerReadPorts): Promise<WorkerItem[]> {
  const store = workerStore(ports);
  const connections = (await Promise.all(teams.map((team) => store.ofTeam(team)))).flat();
  const hosts = Map.groupBy(connections, ({ worker_host }) => worker_host);
  return [...hosts].map(([worker_host, all]) => ({
    worker_host,
    connection_count: all.length,
    connected_at: toTimestamp(Math.min(...all.map(({ connected_at }) => connected_at))),
    last_seen_at: toTimestamp(Math.max(...all.map(({ last_seen_at }) => last_seen_at))),
  }));
}
