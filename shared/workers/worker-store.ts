import * as v from "valibot";
import { keys, teamPk, WORKERS, workerPrefix } from "#shared/table/keys.ts";
import type { Key, Table, Update } from "#shared/table/table.ts";
import type { NamedWrites } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";

/** Seconds that a connection lasts at most: API Gateway closes each one after two hours, sometimes without a notification. */
const CONNECTION_SECONDS = 7_800;

/** One connection of a self-hosted worker. */
const Connection = v.object({
  worker_host: v.string(),
  connection_id: v.string(),
  /** SHA-256 of the API key that it was opened with. */
  key_hash: v.string(),
  connected_at: v.number(),
  last_seen_at: v.number(),
  expires_at: v.number(),
  /** The execution that is offered and not claimed yet, and until when. */
  offer: v.exactOptional(v.string()),
  offer_until: v.exactOptional(v.number()),
  offered_at: v.optional(v.number(), 0),
  /** Nothing is offered before: the worker is at capacity, or did not claim its last offer. */
  busy_until: v.optional(v.number(), 0),
  /** True if the worker shuts down, so that nothing is offered to this connection any more. */
  draining: v.exactOptional(v.literal(true)),
  /** Consecutive offers that it did not claim. */
  unclaimed: v.optional(v.number(), 0),
});
export type Connection = v.InferOutput<typeof Connection>;

/** Where a connection belongs. */
const Pointer = v.object({ team_uid: v.string(), worker_host: v.string(), expires_at: v.number() });

/** Identifies a connection. */
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

const itemKey = ({ team, workerHost, connectionId }: ConnectionKey) => keys.worker(team, workerHost, connectionId);
const EXISTS = { pk: { exists: true } } as const;

function connectionReader({ table, now }: WorkerPorts) {
  // The table deletes expired items late.
  const isLive = ({ expires_at }: { readonly expires_at: number }) => expires_at * 1000 > now();
  const read = async (pk: string, prefix: string): Promise<Connection[]> => {
    const { items } = await table.query({ pk, prefix });
    return items.map((item) => v.parse(Connection, item)).filter(isLive);
  };
  return {
    /** Finds a connection by its id. */
    async find(connectionId: string): Promise<{ key: ConnectionKey; connection: Connection } | undefined> {
      const found = await table.get(keys.connection(connectionId));
      if (found === undefined) return undefined;
      const { team_uid, worker_host } = v.parse(Pointer, found);
      const key = { team: team_uid, workerHost: worker_host, connectionId };
      const item = await table.get(itemKey(key));
      const connection = item === undefined ? undefined : v.parse(Connection, item);
      return connection === undefined || !isLive(connection) ? undefined : { key, connection };
    },

    /** The connections of a team's workers. */
    ofTeam: (team: string): Promise<Connection[]> => read(teamPk(team), WORKERS),

    /** The connections of one worker. */
    ofWorker: (team: string, workerHost: string): Promise<Connection[]> => read(teamPk(team), workerPrefix(workerHost)),
  };
}

/** The connections of self-hosted workers. */
export function workerStore(ports: WorkerPorts) {
  const { table, now } = ports;
  const expiry = () => Math.ceil(now() / 1000) + CONNECTION_SECONDS;
  const updateItem = (key: Key, change: Omit<Update, "kind" | "key">): Promise<boolean> =>
    writeIf(table, { kind: "update", key, ...change, if: { ...EXISTS, ...change.if } });
  const update = (key: ConnectionKey, change: Omit<Update, "kind" | "key">) => updateItem(itemKey(key), change);

  return {
    ...connectionReader(ports),

    /** Adds a connection that nothing is offered to before `busyUntil`, in milliseconds. */
    async register(key: ConnectionKey, keyHash: string, busyUntil = 0): Promise<void> {
      const { team, workerHost, connectionId } = key;
      const connection = {
        worker_host: workerHost,
        connection_id: connectionId,
        key_hash: keyHash,
        connected_at: now(),
        last_seen_at: now(),
        expires_at: expiry(),
        ...(busyUntil === 0 ? {} : { busy_until: busyUntil }),
      };
      const pointer = { team_uid: team, worker_host: workerHost, expires_at: connection.expires_at };
      await table.transact([
        { kind: "put", item: { ...itemKey(key), v: 1, ...connection } },
        { kind: "put", item: { ...keys.connection(connectionId), v: 1, ...pointer } },
      ]);
    },

    /** Records that a connection is still open. Resolves with false if it is removed. */
    async noteSeen(key: ConnectionKey): Promise<boolean> {
      const expires_at = expiry();
      const isThere = await update(key, { set: { last_seen_at: now(), expires_at } });
      // A connection to a single machine has no limit of time, so what leads to it must not expire before it.
      return isThere && (await updateItem(keys.connection(key.connectionId), { set: { expires_at } }));
    },

    /** Removes a closed connection; does nothing where it is removed already. */
    async forget(key: ConnectionKey): Promise<void> {
      await table.transact([
        { kind: "delete", key: itemKey(key) },
        { kind: "delete", key: keys.connection(key.connectionId) },
      ]);
    },

    /** Offers nothing to a connection until `until`, in milliseconds. `isUnclaimed`: it did not claim the offer that ends with this. */
    block: (key: ConnectionKey, until: number, isUnclaimed = false): Promise<boolean> =>
      update(key, {
        set: { busy_until: until },
        remove: ["offer", "offer_until", ...(isUnclaimed ? [] : ["unclaimed"])],
        ...(isUnclaimed ? { add: { unclaimed: 1 } } : {}),
      }),

    /** Takes an offer back, if it is still that of the execution. */
    release: (key: ConnectionKey, executionId: string): Promise<boolean> =>
      update(key, { remove: ["offer", "offer_until"], if: { offer: { eq: executionId } } }),

    /** Offers nothing more to a connection, until it is closed. */
    drain: (key: ConnectionKey): Promise<boolean> => update(key, { set: { draining: true } }),

    /** Lets a connection have offers again. */
    unblock: (key: ConnectionKey): Promise<boolean> =>
      update(key, { remove: ["busy_until"], if: { busy_until: { exists: true } } }),
  };
}
export type WorkerStore = ReturnType<typeof workerStore>;

/** The writes that offer a run to a connection without another offer: they fail as `connection` where it has one, is busy, or drains. */
export const toOfferWrites = (
  key: ConnectionKey,
  offer: { readonly runId: string; readonly executionId: string; readonly now: number; readonly until: number },
): NamedWrites => ({
  connection: {
    kind: "update",
    key: itemKey(key),
    set: { offer: offer.executionId, offer_until: offer.until, offered_at: offer.now },
    if: {
      ...EXISTS,
      offer_until: { absentOr: { below: offer.now + 1 } },
      busy_until: { absentOr: { below: offer.now + 1 } },
      draining: { exists: false },
    },
  },
  waiting: { kind: "delete", key: keys.waitingForWorker(key.team, key.workerHost, offer.runId) },
});

/** The write that ends an offer because it was claimed. */
export const toClaimWrites = (key: ConnectionKey): NamedWrites => ({
  connection: {
    kind: "update",
    key: itemKey(key),
    remove: ["offer", "offer_until", "busy_until", "unclaimed"],
    if: EXISTS,
  },
});
