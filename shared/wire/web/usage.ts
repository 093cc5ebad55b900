import * as v from "valibot";

/** The ended runs of one day, creator, executor, model, schedule or environment. */
export const UsageBucket = v.object({
  /** The day (such as 2026-05-18) or the id that the bucket stands for. Null: runs without one. */
  key: v.nullable(v.string()),
  /** The number of ended runs. */
  runs: v.number(),
  /** The runs that are `SUCCEEDED`. */
  succeeded: v.number(),
  /** The runs that are `FAILED` or `ERROR`. */
  failed: v.number(),
  /** The tokens of all model calls. */
  total_tokens: v.number(),
  /** The cost of all model calls, as far as their models have a price, and of compute. */
  cost_usd: v.number(),
  /** The part of `cost_usd` that is the cost of compute. Absent if there is none, or if it is unknown. */
  compute_cost_usd: v.exactOptional(v.number()),
  /** The seconds that the runs were executing. */
  run_seconds: v.number(),
});
export type UsageBucket = v.InferOutput<typeof UsageBucket>;

/** The usage of the caller's runs. */
export const UsageReport = v.object({
  /** The buckets that have runs, sorted by key. */
  buckets: v.array(UsageBucket),
  /** The currency of all amounts. */
  currency: v.literal("USD"),
});
export type UsageReport = v.InferOutput<typeof UsageReport>;

/** What the buckets of a usage report stand for. */
export const UsageGroup = v.picklist(["day", "creator", "executor", "model", "schedule", "environment"]);
export type UsageGroup = v.InferOutput<typeof UsageGroup>;
