import { RunyardError } from "#shared/errors.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Conditions, Table, Update } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import { counterStore } from "./counter-store.ts";
import { QUEUE_ROOM } from "./slots.ts";

/** The writes of a new run, of which `queue` counts it at its owner; a LOCAL run is not counted. */
type CountedWrites = NamedWrites & { readonly queue: Update | undefined };

interface AdmissionPorts {
  readonly runs: { readonly create: (writes: NamedWrites) => Promise<void> };
}

/**
 * Creates a run if its owner's queue has room. Returns false where it finds the `room` that it needs to begin, and true if it
 * will wait.
 * @throws ConflictError naming the failed writes; a 429 where the queue is full
 */
export async function createWithinLimits(
  writes: CountedWrites,
  room: Conditions,
  { runs }: AdmissionPorts,
): Promise<boolean> {
  const createIf = (limit: Conditions) =>
    runs.create({ ...writes, queue: writes.queue && { ...writes.queue, if: limit } });
  const isQueueFull = (error: unknown) => error instanceof ConflictError && error.failedOnly("queue");
  try {
    await createIf(room);
    return false;
  } catch (error) {
    if (!isQueueFull(error)) throw error;
  }
  try {
    await createIf(QUEUE_ROOM);
    return true;
  } catch (error) {
    throw isQueueFull(error) ? queueFullError() : error;
  }
}

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
