import * as v from "valibot";
import { sha256 } from "#shared/ids.ts";
import { ModelUsage } from "#shared/records/budget-account.ts";
import { parseCounters } from "#shared/runs/capacity/counter-store.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/** Days that the counters of a day are kept; a report covers 400. */
const KEPT_DAYS = 402;
const DAY_MS = 86_400_000;

const Sums = v.object({
  runs: v.number(),
  succeeded: v.number(),
  failed: v.number(),
  tokens: v.number(),
  /** The cost of model calls, in billionths of a dollar. */
  cost: v.number(),
  /** The cost of sandboxes, in billionths of a dollar; absent where it is 0, and in earlier versions. */
  compute: v.optional(v.number(), 0),
  run_ms: v.number(),
});
/** What runs have used. */
export type Sums = v.InferOutput<typeof Sums>;
export const NO_SUMS: Sums = { runs: 0, succeeded: 0, failed: 0, tokens: 0, cost: 0, compute: 0, run_ms: 0 };

const Dimensions = v.object({
  /** The UTC day on which the runs were created. */
  day: v.string(),
  creator: v.string(),
  executor: v.string(),
  model: v.exactOptional(v.string()),
  schedule: v.exactOptional(v.string()),
  environment: v.exactOptional(v.string()),
});
/** What the runs that one item counts have in common. */
export type Dimensions = v.InferOutput<typeof Dimensions>;

const CountedItem = v.object({ revision: v.number(), ...Sums.entries });
/** What is counted of a run already. */
export type Counted = v.InferOutput<typeof CountedItem>;

const UsageItem = v.object({ ...Dimensions.entries, ...Sums.entries });
export type UsageItem = v.InferOutput<typeof UsageItem>;

interface CountedRun {
  readonly runId: string;
  readonly owner: Owner;
  /** The part of its team's counters that counts the run. Each part has usage items in its own partition, so that fewer runs write there. */
  readonly part?: number | undefined;
}

/**
 * Counters of ended runs. One item counts the runs of an owner that were created on the same day and have the same creator,
 * executor, model, schedule and environment, so that the end of a run adds to one item, and a report reads no run.
 */
export function usageStore(table: Table) {
  return {
    /** What is counted of a run, and what its model calls have used so far. */
    async readCounted(runId: string): Promise<{ readonly counted: Counted; readonly used: ModelUsage }> {
      const [counted, used] = await table.batchGet([keys.runUsage(runId), keys.budget(runId)]);
      return { counted: parseCounted(counted), used: v.parse(ModelUsage, used ?? {}) };
    },

    /**
     * Replaces what is counted of a run, and adds the difference to the counters.
     * @throws ConflictError if it was counted meanwhile
     */
    async count(
      { runId, owner, part }: CountedRun,
      dimensions: Dimensions,
      counted: Counted,
      sums: Sums,
    ): Promise<void> {
      const counters = part === undefined ? dimensions : { ...dimensions, part };
      const revision = counted.revision + 1;
      const { compute, ...others } = sums;
      await transact(table, {
        counted: {
          kind: "put",
          item: { ...keys.runUsage(runId), v: 1, revision, ...others, ...(compute === 0 ? {} : { compute }) },
          if: counted.revision === 0 ? { pk: { exists: false } } : { revision: { eq: counted.revision } },
        },
        counters: {
          kind: "update",
          key: keys.usage(owner, dimensions.day, sha256(JSON.stringify(counters)), part),
          set: {
            v: 1,
            ...dimensions,
            expires_at: Math.ceil(Date.parse(dimensions.day) / 1000 + (KEPT_DAYS * DAY_MS) / 1000),
          },
          add: {
            runs: sums.runs - counted.runs,
            succeeded: sums.succeeded - counted.succeeded,
            failed: sums.failed - counted.failed,
            tokens: sums.tokens - counted.tokens,
            cost: sums.cost - counted.cost,
            ...(compute === counted.compute ? {} : { compute: compute - counted.compute }),
            run_ms: sums.run_ms - counted.run_ms,
          },
        },
      });
    },

    /**
     * The counters of an owner's runs that were created on the days `from` to `to`. Those of all parts are in the first partition as
     * well, from earlier releases.
     */
    async list(owner: Owner, from: string, to: string): Promise<UsageItem[]> {
      const listPart = async (part: number): Promise<readonly Item[]> => {
        const { pk, sk: first } = keys.usage(owner, from, "", part);
        const { sk: last } = keys.usage(owner, to, "\u{10ffff}", part);
        return (await table.query({ pk, from: first, to: last })).items;
      };
      const { parts = 1 } = parseCounters(await table.get(keys.counters(owner)));
      const items = await Promise.all(Array.from({ length: parts }, (_, part) => listPart(part)));
      return items.flat().map((item) => v.parse(UsageItem, item));
    },
  };
}

const parseCounted = (item: Item | undefined): Counted =>
  item === undefined ? { revision: 0, ...NO_SUMS } : v.parse(CountedItem, item);
