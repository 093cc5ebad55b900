import { RunyardError } from "#shared/errors.ts";
import { parseOwner } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Conditions, Put, Table, Update } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import { counterKey, counterStore } from "./counter-store.ts";
import { QUEUE_ROOM } from "./slots.ts";

/** The writes of a new run, of which `queue` counts it at its owner; a LOCAL run is not counted. */
type CountedWrites = NamedWrites & { readonly head: Put; readonly queue: Update | undefined };

interface AdmissionPorts {
  readonly runs: { readonly create: (writes: NamedWrites) => Promise<void> };
  readonly table: Pick<Table, "get" | "batchGet" | "write">;
}

/**
 * Creates a run if its owner's queue has room. Returns false where it finds the `room` that it needs to begin, and true if it
 * will wait.
 * @param whenWaiting writes that take the place of others of their name where the run will wait
 * @throws ConflictError naming the failed writes; a 429 where the queue is full
 */
export async function createWithinLimits(
  writes: CountedWrites,
  room: Conditions,
  { runs, table }: AdmissionPorts,
  whenWaiting: NamedWrites = {},
): Promise<boolean> {
  const { queue, head } = writes;
  /** Returns false where the queue has no such room. */
  const createIf = async (limit: Conditions, counted = writes): Promise<boolean> => {
    try {
      await runs.create({ ...counted, queue: counted.queue && { ...counted.queue, if: limit } });
      return true;
    } catch (error) {
      if (error instanceof ConflictError && error.failedOnly("queue")) return false;
      throw error;
    }
  };
  if (await createIf(room)) return false;
  const waiting = (counted: CountedWrites): CountedWrites => ({ ...counted, ...whenWaiting });
  if (head.item["part"] === undefined && (await createIf(QUEUE_ROOM, waiting(writes)))) return true;
  // Another part of the counters may have room.
  const owner = parseOwner({ scope: String(head.item["scope"]) });
  const parts = queue === undefined ? [] : await listParts(owner, table);
  for (const { part, isFree } of parts) {
    const counted = toPart(writes, owner, part);
    if (isFree && (await createIf(room, counted))) return false;
    if (await createIf(QUEUE_ROOM, waiting(counted))) return true;
  }
  throw queueFullError();
}

/** Lists the parts of an owner's counters where a new run has room, those first where it finds a slot. */
async function listParts(owner: Owner, table: AdmissionPorts["table"]) {
  const parts = await counterStore(table).readParts(owner);
  if (parts.length === 1) return [];
  const waits = parts.some(({ waiting }) => waiting > 0);
  return parts
    .map(({ queued, queue_limit, running, concurrency_limit }, part) => ({
      part,
      isFree: !waits && running < concurrency_limit,
      room: queue_limit - queued,
    }))
    .filter(({ room }) => room > 0)
    .toSorted((a, b) => Number(b.isFree) - Number(a.isFree) || b.room - a.room);
}

/** Counts a new run in another part. */
const toPart = ({ head, queue, ...others }: CountedWrites, owner: Owner, part: number): CountedWrites => ({
  ...others,
  head: { ...head, item: { ...head.item, part } },
  queue: queue && { ...queue, key: counterKey(owner, part) },
});

/** Refuses a run before its files are stored; the condition of the run's own transaction decides in the end. */
export async function refuseFullQueue(owner: Owner, { table }: { readonly table: Table }): Promise<void> {
  const { queued, queue_limit } = await counterStore(table).read(owner);
  if (queued >= queue_limit) throw queueFullError();
}

const queueFullError = () =>
  new RunyardError("resource_unavailable", {
    status: 429,
    retryAfterSeconds: 10,
    detail: "the queue is full: as many runs wait already as the team may have (queue_limit)",
  });
