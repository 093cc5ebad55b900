import { sortByText } from "#shared/arrays.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { listVisibleOwners, type Principal } from "#shared/principals/principal.ts";
import { toRoundedUsd } from "#shared/records/money.ts";
import type { Table } from "#shared/table/table.ts";
import type { UsageBucket, UsageGroup } from "#shared/wire/web/usage.ts";
import { NO_SUMS, type Sums, usageStore } from "./usage-store.ts";

const DAY_MS = 86_400_000;
const MAX_DAYS = 400;
const DEFAULT_DAYS = 30;

interface UsageQuery {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly groupBy: UsageGroup;
}

/** The usage of the runs that the principal sees in lists, in buckets sorted by their key. */
export async function readUsageReport(
  { from, to, groupBy }: UsageQuery,
  principal: Principal,
  { table, now }: { readonly table: Table; readonly now: () => number },
): Promise<UsageBucket[]> {
  if (principal.kind === "run") throw new RunyardError("not_authorized", { detail: "a run's key sees no usage" });
  const last = to ?? toDay(now());
  const first = from ?? toDay(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS);
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  if (days < 1) throw invalid("from", "must not be after to");
  if (days > MAX_DAYS) throw invalid("from", `must be at most ${MAX_DAYS} days before to, both included`);
  const store = usageStore(table);
  const found = await Promise.all(listVisibleOwners(principal).map((owner) => store.list(owner, first, last)));
  const buckets = new Map<string, Sums>();
  for (const item of found.flat()) {
    const key = item[groupBy] ?? "";
    buckets.set(key, addSums(buckets.get(key) ?? NO_SUMS, item));
  }
  return sortByText([...buckets], ([key]) => key).map(([key, sums]) => toBucket(key, sums));
}

const toDay = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

const addSums = (a: Sums, b: Sums): Sums => ({
  runs: a.runs + b.runs,
  succeeded: a.succeeded + b.succeeded,
  failed: a.failed + b.failed,
  tokens: a.tokens + b.tokens,
  cost: a.cost + b.cost,
  compute: a.compute + b.compute,
  run_ms: a.run_ms + b.run_ms,
});

const toBucket = (key: string, { runs, succeeded, failed, tokens, cost, compute, run_ms }: Sums): UsageBucket => ({
  key: key === "" ? null : key,
  runs,
  succeeded,
  failed,
  total_tokens: tokens,
  cost_usd: toRoundedUsd(cost + compute),
  ...(compute === 0 ? {} : { compute_cost_usd: toRoundedUsd(compute) }),
  run_seconds: run_ms / 1000,
});
