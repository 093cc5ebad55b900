import { folded } from "#shared/records/run.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import {
  keys,
  type Owner,
  ownerPk,
  SCHEDULE_SHARDS,
  schedulePk,
  scheduleShard,
  schedulesOfIdentity,
  shardOfSchedule,
  sortableTime,
} from "#shared/table/keys.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Conditions, Item, Key, Put, Query, Table, TransactionWrite, Update } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites, transact } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { identityOf, nextRunOf, parseSchedule, type Schedule } from "./schedule.ts";
import type { Tick } from "./tick.ts";
import { putTick } from "./tick-store.ts";

/** The schedule was changed between the read and the write; read it again. */
export class ScheduleChangedError extends Error {}

/** Reads, decides and writes; repeats that where the schedule was changed in between. */
export const retryOnChange = <T>(attempt: () => Promise<T>): Promise<T> =>
  retryOnConflict("the schedule is", attempt, { isConflict: (error) => error instanceof ScheduleChangedError });

/** A schedule's entry in the list of its owner. */
export interface Entry {
  readonly id: string;
  readonly place: string;
}

/** What a transaction writes together with a change of a schedule. */
interface ChangeExtras {
  /** The record of the request for the change. */
  readonly idempotency?: Put;
  /** The outcome of the firing that causes the change. */
  readonly outcome?: Tick;
  /** Outcomes of other firings; those that have an outcome already are left out. */
  readonly ticks?: readonly Tick[];
  /** The event that webhooks of the team deliver. */
  readonly teamEvent?: Put | undefined;
}

/** Reads and changes of schedules. */
export function scheduleStore(table: Table) {
  return {
    async get(id: string): Promise<Schedule | undefined> {
      const item = await table.get(keys.schedule(id));
      return item === undefined ? undefined : parseSchedule(item);
    },

    /** Reads the schedules with these ids; one that is not there is left out. */
    getMany: (ids: readonly string[]): Promise<Schedule[]> => readMany(ids, table),

    /**
     * Writes `after` in the place of `before`, with its entry in the owner's list, all or nothing.
     * @throws ScheduleChangedError; ConflictError where the `idempotency` record or the `outcome` exists
     */
    change: (before: Schedule | undefined, after: Schedule, extras: ChangeExtras = {}): Promise<void> =>
      writeChange(before, after, extras, table),

    /** Records that the timer matches the schedule's plan. Returns false where the plan has changed since it was read. */
    noteSynced: (schedule: Schedule): Promise<boolean> => writeSynced(schedule, table),

    /** Undoes a creation that no caller knows of. */
    discard: (schedule: Schedule, idempotency: Key): Promise<void> =>
      transact(table, {
        schedule: { kind: "delete", key: keys.schedule(schedule.schedule_id) },
        entry: { kind: "delete", key: entryKey(schedule) },
        idempotency: { kind: "delete", key: idempotency },
      }),

    /** Returns the entries of an owner's schedules, by name. */
    async listEntries(owner: Owner): Promise<Entry[]> {
      const { items } = await table.query(entriesIn(owner));
      return items.map(({ sk }) => ({ place: sk, id: sk.slice(sk.indexOf("\u0000") + 1) }));
    },

    /** Returns the ids of the schedules whose runs an identity executes. The index lags a moment. */
    async listByIdentity(identity: string): Promise<string[]> {
      const { items } = await table.query({ index: "gsi7", pk: schedulesOfIdentity(identity) });
      return items.map(toId);
    },

    /** Returns ids of schedules that are due to be reconciled, those that have waited longest first in each shard. */
    async due(until: number, limit: number): Promise<string[]> {
      const shards = await Promise.all(
        Array.from({ length: SCHEDULE_SHARDS }, (_, shard) =>
          table.query({ index: "gsi6", pk: scheduleShard(shard), to: sortableTime(until), limit }),
        ),
      );
      return shards.flatMap((page) => page.items.map(toId));
    },

    /** Sets when a schedule is reconciled next, if it is to be and is still at `revision`. */
    checkAgain: (id: string, at: number, revision?: number): Promise<void> => writeCheck(id, at, revision, table),
  };
}
export type ScheduleStore = ReturnType<typeof scheduleStore>;

/** A schedule's item whose timer has to be set again, as after an import; any other item unchanged. */
export function toUnsynced(item: Item, now: number): Item {
  const id = toId(item);
  const isSchedule = item.pk.startsWith(schedulePk("")) && item.sk === keys.schedule(id).sk;
  return isSchedule ? { ...item, pending_since: now, ...checkKeys(id, 0) } : item;
}

const toId = ({ pk }: Item): string => pk.slice(schedulePk("").length);

async function readMany(ids: readonly string[], table: Table): Promise<Schedule[]> {
  const items = await batchGetAll(ids.map(keys.schedule), table);
  return items.filter((item) => item !== undefined).map(parseSchedule);
}

async function writeChange(
  before: Schedule | undefined,
  after: Schedule,
  extras: ChangeExtras,
  table: Table,
): Promise<void> {
  const { idempotency, outcome, ticks = [], teamEvent } = extras;
  const named = ticks.map((tick) => [`tick ${tick.at}`, putTick(after.schedule_id, tick)] as const);
  const writes: NamedWrites = {
    ...namedChange(before, after),
    idempotency,
    teamEvent,
    outcome: outcome && putTick(after.schedule_id, outcome),
    ...Object.fromEntries(named),
  };
  try {
    if (before === undefined) await transactInScope(after.owner, writes, table);
    else await transact(table, writes);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    if (error.failed.has("schedule") || error.failed.has("entry")) throw new ScheduleChangedError();
    if (error.failed.has("idempotency") || error.failed.has("outcome")) throw error;
    const open = ticks.filter(({ at }) => !error.failed.has(`tick ${at}`));
    await writeChange(before, after, { ...extras, ticks: open }, table);
  }
}

function writeSynced(schedule: Schedule, table: Table): Promise<boolean> {
  const { schedule_id: id, plan, timing } = schedule;
  const key = keys.schedule(id);
  const condition = { plan: { eq: plan } };
  const next = nextRunOf(schedule);
  const update = (change: Pick<Update, "set" | "remove">) =>
    writeIf(table, { kind: "update", key, ...change, set: { pending_since: null, ...change.set }, if: condition });
  // The last item of a deleted schedule goes with its timer.
  if (timing.state === "deleted") return writeIf(table, { kind: "delete", key, if: condition });
  if (next === undefined) return update({ remove: ["check_shard", "check_at"] });
  // A firing may have moved it meanwhile: then this check comes too early, and the reconciler corrects it.
  return update({ set: checkKeys(id, next) });
}

async function writeCheck(id: string, at: number, revision: number | undefined, table: Table): Promise<void> {
  const condition: Conditions = {
    check_at: { exists: true },
    ...(revision === undefined ? {} : { revision: { eq: revision } }),
  };
  await writeIf(table, { kind: "update", key: keys.schedule(id), set: { check_at: sortableTime(at) }, if: condition });
}

/** Returns the writes that put `after` in the place of `before`, on condition that nothing has changed it since it was read. */
export const changeWrites = (before: Schedule | undefined, after: Schedule): TransactionWrite[] =>
  Object.values(namedChange(before, after)).flat();

function namedChange(before: Schedule | undefined, after: Schedule) {
  const schedule: Put = {
    kind: "put",
    item: toStoredSchedule({ ...after, revision: (before?.revision ?? 0) + 1 }),
    if: before === undefined ? { pk: { exists: false } } : { revision: { eq: before.revision } },
  };
  return { schedule, entry: entryWrites(before, after) };
}

/** Returns the writes that move the schedule's entry in the owner's list, where the change concerns it. */
function entryWrites(before: Schedule | undefined, after: Schedule): TransactionWrite[] {
  const old = before === undefined || before.timing.state === "deleted" ? undefined : entryKey(before);
  const now = after.timing.state === "deleted" ? undefined : entryKey(after);
  if (old?.sk === now?.sk) return [];
  const writes: TransactionWrite[] = [];
  if (old !== undefined) writes.push({ kind: "delete", key: old });
  if (now !== undefined) writes.push({ kind: "put", item: { ...now, v: 1 } });
  return writes;
}

/** A schedule as it is stored, with the keys of its indexes. */
function toStoredSchedule(schedule: Schedule): Item {
  const checkAt = schedule.pending_since ?? nextRunOf(schedule);
  const { schedule_id: id } = schedule;
  const identity = identityOf(schedule);
  return {
    ...keys.schedule(id),
    v: 1,
    ...schedule,
    ...(checkAt === undefined ? {} : checkKeys(id, checkAt)),
    ...(identity === undefined || schedule.timing.state === "deleted"
      ? {}
      : { group: schedulesOfIdentity(identity), updated_key: id }),
  };
}

const checkKeys = (id: string, at: number) => ({ check_shard: shardOfSchedule(id), check_at: sortableTime(at) });

/** The entries of an owner's list of schedules. */
export const entriesIn = (owner: Owner) =>
  ({ pk: ownerPk(owner), prefix: "SCHEDULE#" }) satisfies Pick<Query, "pk" | "prefix">;

const entryKey = ({ owner, name, schedule_id }: Schedule): Key => keys.scheduleName(owner, folded(name), schedule_id);
