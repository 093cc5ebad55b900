import * as v from "valibot";
import { DEFAULT_QUEUE_LIMIT } from "#shared/records/run.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";

const Count = v.optional(v.number(), 0);
/** The runs of an owner: queued, executing in its slots, and waiting for one. */
const Tally = v.object({ queued: Count, running: Count, waiting: Count });
export type Tally = v.InferOutput<typeof Tally>;

const Counters = v.object({
  ...Tally.entries,
  changes: Count,
  recounted_at: Count,
  /** How much more, or less, the last recount found than the counters say, and when. */
  differs: v.exactOptional(v.object({ ...Tally.entries, at: v.number() })),
  queue_limit: v.optional(v.number(), DEFAULT_QUEUE_LIMIT),
});
export type Counters = v.InferOutput<typeof Counters>;

/** What a recount writes: a difference to confirm later, or the confirmed difference, which corrects the counters. */
type Recount = { readonly differs: Tally; readonly at: number } | { readonly corrects: Tally; readonly at: number };

/** The counters of an owner's runs. */
export function counterStore(table: Pick<Table, "get" | "write">) {
  return {
    async read(owner: Owner): Promise<Counters> {
      return v.parse(Counters, (await table.get(keys.counters(owner))) ?? {});
    },

    /** Writes the result of a recount. Returns false where a counter has changed since `changes` were read. */
    saveRecount(owner: Owner, changes: number, recount: Recount): Promise<boolean> {
      const { at } = recount;
      return writeIf(table, {
        kind: "update",
        key: keys.counters(owner),
        ...("corrects" in recount
          ? { set: { recounted_at: at }, add: { ...recount.corrects }, remove: ["differs"] }
          : { set: { differs: { ...recount.differs, at } } }),
        if: { changes: changes === 0 ? { absentOr: { eq: 0 } } : { eq: changes } },
      });
    },
  };
}
