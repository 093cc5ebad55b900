import * as v from "valibot";
import { keys, teamPk, WORKERS } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

/** Seconds that a connection lasts at most: API Gateway closes each one after two hours, sometimes without a notification. */
const CONNECTION_SECONDS = 7_800;

/** One connection of a self-hosted worker. */
const Connection = v.object({
  worker_host: v.string(),
  connection_id: v.string(),
  connected_at: v.number(),
  last_seen_at: v.number(),
  expires_at: v.number(),
});
export type Connection = v.InferOutput<typeof Connection>;

/** Identifies a connection. */
export interface ConnectionKey {
  readonly team: string;
  /** The id under which the worker connected; several connections may share it. */
  readonly workerHost: string;
  readonly connectionId: string;
}

export interface WorkerPorts {
  readonly table: Table;
  readonly now: () => number;
}

/** Records that a worker has connected. */
export async function registerConnection(key: ConnectionKey, { table, now }: WorkerPorts): Promise<void> {
  const connection: Connection = {
    worker_host: key.workerHost,
    connection_id: key.connectionId,
    connected_at: now(),
    last_seen_at: now(),
    expires_at: Math.ceil(now() / 1000) + CONNECTION_SECONDS,
  };
  await table.write({ kind: "put", item: { ...itemKey(key), v: 1, ...connection } });
}

/** Records a message on a connection. Throws ConditionFailed where the connection is closed. */
export async function noteSeen(key: ConnectionKey, { table, now }: WorkerPorts): Promise<void> {
  await table.write({
    kind: "update",
    key: itemKey(key),
    set: { last_seen_at: now() },
    if: { pk: { exists: true } },
  });
}

/** Removes a closed connection; does nothing where it is removed already. */
export async function forgetConnection(key: ConnectionKey, { table }: Pick<WorkerPorts, "table">): Promise<void> {
  await table.write({ kind: "delete", key: itemKey(key) });
}

/** Reads the connections of a team's workers. */
export async function readConnections(team: string, { table, now }: WorkerPorts): Promise<Connection[]> {
  const { items } = await table.query({ pk: teamPk(team), prefix: WORKERS });
  // The table deletes expired items late.
  return items.map((item) => v.parse(Connection, item)).filter(({ expires_at }) => expires_at * 1000 > now());
}

const itemKey = ({ team, workerHost, connectionId }: ConnectionKey) => keys.worker(team, workerHost, connectionId);
