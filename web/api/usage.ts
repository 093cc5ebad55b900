import * as v from "valibot";
import { client } from "./client.ts";

const Bucket = v.object({
  key: v.nullable(v.string()),
  runs: v.number(),
  succeeded: v.number(),
  failed: v.number(),
  total_tokens: v.number(),
  cost_usd: v.number(),
  compute_cost_usd: v.exactOptional(v.number()),
  run_seconds: v.number(),
});
export type UsageBucket = v.InferOutput<typeof Bucket>;
const Report = v.object({ buckets: v.array(Bucket) });

export const USAGE_GROUPS = ["day", "creator", "executor", "model", "schedule", "environment"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Reads the usage of the last days. */
export async function readUsage(group: UsageGroup, days: number, signal: AbortSignal): Promise<UsageBucket[]> {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const query = { from: day(days - 1), to: day(0), group_by: group };
  const body = await client.request({ method: "GET", path: "/agent/usage", query, options: { signal } });
  return v.parse(Report, body).buckets;
}
