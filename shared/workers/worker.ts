import * as v from "valibot";
import { keys, teamPk, WORKERS } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { WorkerItem } from "#shared/wire/worker.ts";

/** Seconds that a connection lasts at most: API Gateway ends each after two hours, and may not say so. */
const CONNECTION_SECONDS = 7_800;

/** One connection of a self-hosted worker. */
const Connection = v.object({
  worker_host: v.string(),
  connection_id: v.string(),
  connected_at: v.number(),
  last_seen_at: v.number(),
  expires_at: v.number(),
});
type Connection = v.InferOutput<typeof Connection>;

/** Which connection it is. */
export interface ConnectionKey {
  readonly team: string;
  /** The id under which the worker connected; several connections may share it. */
  readonly workerHost: string;
  readonly connectionId: string;
}

interface WorkerPorts {
  readonly table: Table;
  readonly now: () => number;
}

/** Notes that a worker has connected. */
export async function registerConnection(key: ConnectionKey, { table, now }: WorkerPorts): Promise<void> {
  const connection: Connection = {
    worker_host: key.workerHost,
    connection_id: key.connectionId,
    connected_at: now(),
    last_seen_at: now(),
    expires_at: Math.ceil(now() / 1000) + CONNECTION_SECONDS,
  };
  await table.write({ kind: "put", item: { ...keyOf(key), v: 1, ...connection } });
}

/** Notes that a connection has been heard of; one that is gone stays gone. Throws ConditionFailed then. */
export async function noteSeen(key: ConnectionKey, { table, now }: WorkerPorts): Promise<void> {
  await table.write({
    kind: "update",
    key: keyOf(key),
    set: { last_seen_at: now() },
    if: { pk: { exists: true } },
  });
}

/** Forgets a connection that has ended; one that is not there is forgotten already. */
export async function forgetConnection(key: ConnectionKey, { table }: Pick<WorkerPorts, "table">): Promise<void> {
  await table.write({ kind: "delete", key: keyOf(key) });
}

/** The workers that are connected to any of the teams, each once, in no order. */
export async function connectedWorkers(teams: readonly string[], { table, now }: WorkerPorts): Promise<WorkerItem[]> {
  const pages = await Promise.all(teams.map((team) => table.query({ pk: teamPk(team), prefix: WORKERS })));
  const connections = pages
    .flatMap(({ items }) => items)
    .map((item) => v.parse(Connection, item))
    // What the table deletes by its time may still be there for a while.
    .filter(({ expires_at }) => expires_at * 1000 > now());
  const hosts = Map.groupBy(connections, ({ worker_host }) => worker_host);
  return [...hosts].map(([worker_host, all]) => ({
    worker_host,
    connection_count: all.length,
    connected_at: toTimestamp(Math.min(...all.map(({ connected_at }) => connected_at))),
    last_seen_at: toTimestamp(Math.max(...all.map(({ last_seen_at }) => last_seen_at))),
  }));
}

const keyOf = ({ team, workerHost, connectionId }: ConnectionKey) => keys.worker(team, workerHost, connectionId);
