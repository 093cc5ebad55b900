import { toTimestamp } from "#shared/wire/primitives.ts";
import type { WorkerItem } from "#shared/wire/worker.ts";
import { readConnections, type WorkerPorts } from "./worker-store.ts";

/** Finds the workers that are connected to any of the teams, each once, in no order. */
export async function findConnectedWorkers(teams: readonly string[], ports: WorkerPorts): Promise<WorkerItem[]> {
  const connections = (await Promise.all(teams.map((team) => readConnections(team, ports)))).flat();
  const hosts = Map.groupBy(connections, ({ worker_host }) => worker_host);
  return [...hosts].map(([worker_host, all]) => ({
    worker_host,
    connection_count: all.length,
    connected_at: toTimestamp(Math.min(...all.map(({ connected_at }) => connected_at))),
    last_seen_at: toTimestamp(Math.max(...all.map(({ last_seen_at }) => last_seen_at))),
  }));
}
