import * as v from "valibot";
import { DEFAULT_CONCURRENCY_LIMIT, DEFAULT_QUEUE_LIMIT } from "#shared/records/run.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Item, Key, Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";

const Count = v.optional(v.number(), 0);
/** The runs of an owner: queued, executing in its slots, and waiting for one. */
const Tally = v.object({ queued: Count, running: Count, waiting: Count });
export type Tally = v.InferOutput<typeof Tally>;

const Counters = v.object({
  ...Tally.entries,
  changes: Count,
  /** The number of runs that have left the wait queue, with or without a slot. */
  left: Count,
  recounted_at: Count,
  /** How much more, or less, the last recount found than the counters say, and when. */
  differs: v.exactOptional(v.object({ ...Tally.entries, at: v.number() })),
  concurrency_limit: v.optional(v.number(), DEFAULT_CONCURRENCY_LIMIT),
  queue_limit: v.optional(v.number(), DEFAULT_QUEUE_LIMIT),
  /** The number of parts that the counters of a team have had at most; absent where they have always been one item. */
  parts: v.exactOptional(v.number()),
});
export type Counters = v.InferOutput<typeof Counters>;

type CounterSums = Tally & Pick<Counters, "left" | "queue_limit">;

/** What a recount writes: a difference to confirm later, or the confirmed difference, which corrects the counters. */
type Recount = { readonly differs: Tally; readonly at: number } | { readonly corrects: Tally; readonly at: number };

export const parseCounters = (item: Item | undefined): Counters => v.parse(Counters, item ?? {});

/** The key of a part of an owner's counters. */
export const counterKey = (owner: Owner, part: number): Key => keys.counterPart(owner, part);

/** The counters of an owner's runs. */
export function counterStore(table: Pick<Table, "get" | "batchGet" | "write">) {
  const readPart = async (owner: Owner, part = 0): Promise<Counters> =>
    parseCounters(await table.get(keys.counterPart(owner, part)));

  /** Reads the counters of all parts, of which there is one unless the owner is a team with a high limit. */
  async function readParts(owner: Owner): Promise<Counters[]> {
    const first = await readPart(owner);
    const others = Array.from({ length: (first.parts ?? 1) - 1 }, (_, index) => keys.counterPart(owner, index + 1));
    return others.length === 0 ? [first] : [first, ...(await table.batchGet(others)).map(parseCounters)];
  }

  return {
    readPart,
    readParts,

    /** The sums of all parts. */
    read: async (owner: Owner): Promise<CounterSums> => sumCounters(await readParts(owner)),

    /** Writes the result of a recount. Returns false where a counter has changed since `changes` were read. */
    saveRecount(owner: Owner, part: number, changes: number, recount: Recount): Promise<boolean> {
      const { at } = recount;
      return writeIf(table, {
        kind: "update",
        key: keys.counterPart(owner, part),
        ...("corrects" in recount
          ? { set: { recounted_at: at }, add: { ...recount.corrects }, remove: ["differs"] }
          : { set: { differs: { ...recount.differs, at } } }),
        if: { changes: changes === 0 ? { absentOr: { eq: 0 } } : { eq: changes } },
      });
    },
  };
}

export function sumCounters(parts: readonly Counters[]): CounterSums {
  const sum = (name: keyof CounterSums) => parts.reduce((total, counters) => total + counters[name], 0);
  return {
    queued: sum("queued"),
    running: sum("running"),
    waiting: sum("waiting"),
    left: sum("left"),
    queue_limit: sum("queue_limit"),
  };
}

/** The part with the most free slots; undefined where none is free. */
export function findFreeSlot(parts: readonly Counters[]): number | undefined {
  const free = parts.map(({ concurrency_limit, running }) => concurrency_limit - running);
  const most = Math.max(...free);
  return most > 0 ? free.indexOf(most) : undefined;
}
