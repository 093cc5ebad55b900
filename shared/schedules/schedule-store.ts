import { retryableConflict } from "#shared/errors.ts";
import { folded } from "#shared/records/run.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
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
import {
  ConditionFailed,
  type Item,
  type Key,
  type Put,
  type Table,
  type TransactionWrite,
} from "#shared/table/table.ts";
import { nextRunOf, parseSchedule, type Schedule, toScheduleItem } from "./schedule.ts";

/** Items that one batch reads. */
const BATCH = 100;

/** Somebody changed the schedule between the read and the write; read it again and decide anew. */
export class ScheduleChangedError extends Error {}

const ATTEMPTS = 8;

/** Reads, decides and writes, and does so again where somebody else has changed the schedule in between. */
export async function attempting<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ScheduleChangedError)) throw error;
    }
  }
  throw retryableConflict("the schedule changes too fast; try again");
}

/** A schedule's place in the list of its owner. */
export interface Entry {
  readonly id: string;
  readonly place: string;
}

/** Reads and changes of schedules. */
export function scheduleStore(table: Table) {
  async function get(id: string): Promise<Schedule | undefined> {
    const item = await table.get(keys.schedule(id));
    return item === undefined ? undefined : parseSchedule(item);
  }

  /**
   * Writes `after` in the place of `before`, with its place in the list and whatever else belongs to it, all or nothing.
   * `ticks` are outcomes of firings; those that have one by now are left out. Throws ScheduleChangedError, or ConditionFailed
   * with the positions in `also`.
   */
  async function change(
    before: Schedule | undefined,
    after: Schedule,
    also: readonly TransactionWrite[] = [],
    ticks: readonly Put[] = [],
  ): Promise<void> {
    const own = changeWrites(before, after);
    const writes = [...own, ...also, ...ticks];
    try {
      if (before === undefined) await transactInScope(after.owner, writes, table);
      else await table.transact(writes);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (error.positions.some((position) => position < own.length)) throw new ScheduleChangedError();
      const others = error.positions.filter((position) => position < own.length + also.length);
      if (others.length > 0) throw new ConditionFailed(others.map((position) => position - own.length));
      const open = ticks.filter((_, index) => !error.positions.includes(own.length + also.length + index));
      await change(before, after, also, open);
    }
  }

  async function items(wanted: readonly Key[]): Promise<Item[]> {
    const found: Item[] = [];
    for (let from = 0; from < wanted.length; from += BATCH) {
      const some = await table.batchGet(wanted.slice(from, from + BATCH));
      found.push(...some.filter((item) => item !== undefined));
    }
    return found;
  }

  return {
    get,
    change,

    /** The schedules with these ids that there are. */
    async many(ids: readonly string[]): Promise<Schedule[]> {
      return (await items(ids.map(keys.schedule))).map(parseSchedule);
    },

    /** Notes that the timer is what the plan says, if it still is the plan; the last trace of a deleted one goes. */
    async agreed(schedule: Schedule): Promise<boolean> {
      const { schedule_id: id, plan, timing } = schedule;
      const key = keys.schedule(id);
      const condition = { plan: { eq: plan } };
      const next = nextRunOf(schedule);
      try {
        if (timing.state === "deleted") await table.write({ kind: "delete", key, if: condition });
        else if (next === undefined) {
          const remove = ["check_shard", "check_at"];
          await table.write({ kind: "update", key, set: { pending_since: null }, remove, if: condition });
        } else {
          // A firing may have moved on meanwhile: then this looks too early, which the reconciler puts right.
          const check = { check_shard: shardOfSchedule(id), check_at: sortableTime(next) };
          await table.write({ kind: "update", key, set: { pending_since: null, ...check }, if: condition });
        }
        return true;
      } catch (error) {
        if (error instanceof ConditionFailed) return false;
        throw error;
      }
    },

    /** Undoes a creation that nobody has been told of. */
    async discard(schedule: Schedule, record: Key): Promise<void> {
      await table.transact([
        { kind: "delete", key: keys.schedule(schedule.schedule_id) },
        { kind: "delete", key: nameKey(schedule) },
        { kind: "delete", key: record },
      ]);
    },

    /** The places of an owner's schedules, by name. */
    async entries(owner: Owner): Promise<Entry[]> {
      const { items } = await table.query({ pk: ownerPk(owner), prefix: "SCHEDULE#" });
      return items.map(({ sk }) => ({ place: sk, id: sk.slice(sk.indexOf("\u0000") + 1) }));
    },

    /** Ids of the schedules whose runs an identity carries out. The index lags a moment. */
    async ofIdentity(identity: string): Promise<string[]> {
      const { items } = await table.query({ index: "gsi7", pk: schedulesOfIdentity(identity) });
      return items.map(({ pk }) => pk.slice(schedulePk("").length));
    },

    /** Outcomes of planned firings, the latest first. */
    async ticks(
      id: string,
      before: string | undefined,
      limit: number,
    ): Promise<{ items: readonly Item[]; more: boolean }> {
      const range = before === undefined ? {} : { before };
      return table.query({ pk: schedulePk(id), prefix: "TICK#", ...range, descending: true, limit });
    },

    hasTick: async (id: string, at: number): Promise<boolean> => (await table.get(keys.tick(id, at))) !== undefined,

    /** Ids of schedules that are due to be looked at, those that have waited longest first in each shard. */
    async due(until: number, limit: number): Promise<string[]> {
      const shards = await Promise.all(
        Array.from({ length: SCHEDULE_SHARDS }, (_, shard) =>
          table.query({ index: "gsi6", pk: scheduleShard(shard), to: sortableTime(until), limit }),
        ),
      );
      return shards.flatMap((page) => page.items.map(({ pk }) => pk.slice(schedulePk("").length)));
    },

    /** Moves the next look at a schedule, if one is to come, and nothing happened since `revision` was read. */
    async lookAgain(id: string, at: number, revision?: number): Promise<void> {
      try {
        const condition = {
          check_at: { exists: true },
          ...(revision === undefined ? {} : { revision: { eq: revision } }),
        };
        await table.write({
          kind: "update",
          key: keys.schedule(id),
          set: { check_at: sortableTime(at) },
          if: condition,
        });
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
      }
    },
  };
}
export type ScheduleStore = ReturnType<typeof scheduleStore>;

/** The writes that put `after` in the place of `before`, under the condition that nothing happened to it since it was read. */
export const changeWrites = (before: Schedule | undefined, after: Schedule): TransactionWrite[] => [
  putSchedule(before, after),
  ...nameWrites(before, after),
];

function putSchedule(before: Schedule | undefined, after: Schedule): Put {
  return {
    kind: "put",
    item: toScheduleItem({ ...after, revision: (before?.revision ?? 0) + 1 }),
    if: before === undefined ? { pk: { exists: false } } : { revision: { eq: before.revision } },
  };
}

const nameKey = ({ owner, name, schedule_id }: Schedule): Key => keys.scheduleName(owner, folded(name), schedule_id);

/** What a change makes of the schedule's place in the list. */
function nameWrites(before: Schedule | undefined, after: Schedule): TransactionWrite[] {
  const old = before === undefined || before.timing.state === "deleted" ? undefined : nameKey(before);
  const now = after.timing.state === "deleted" ? undefined : nameKey(after);
  if (old?.sk === now?.sk) return [];
  return [
    ...(old === undefined ? [] : [{ kind: "delete" as const, key: old }]),
    ...(now === undefined ? [] : [{ kind: "put" as const, item: { ...now, v: 1 } }]),
  ];
}
