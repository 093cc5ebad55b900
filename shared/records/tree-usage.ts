import * as v from "valibot";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import { readPages } from "#shared/table/read-pages.ts";
import type { Table } from "#shared/table/table.ts";
import type { RequestUsage } from "#shared/wire/run.ts";
import { ModelUsage } from "./budget-account.ts";
import { toRoundedUsd } from "./money.ts";
import { type RunHead, readHeads } from "./run-head.ts";
import { computeCost } from "./run-time.ts";

interface TreePorts {
  readonly table: Pick<Table, "batchGet" | "query">;
  readonly now: () => number;
  readonly sandboxUsdPerHour?: number | undefined;
}

/** Sums the usage of a run and of its descendants. The heads of the descendants are read where sandboxes have a price. */
export async function readTreeUsage(
  head: RunHead,
  own: ModelUsage | undefined,
  { table, now, sandboxUsdPerHour = 0 }: TreePorts,
): Promise<NonNullable<RequestUsage["tree"]>> {
  const below = head.children === 0 ? [] : await listDescendants(head.run_id, table);
  const [items, heads] = await Promise.all([
    below.length === 0 ? [own] : batchGetAll([head.run_id, ...below].map(keys.budget), table),
    below.length === 0 || sandboxUsdPerHour === 0 ? [] : readHeads(below, table),
  ]);
  const all = items.map((item) => v.parse(ModelUsage, item ?? {}));
  const compute = [head, ...heads].map((one) =>
    one === undefined ? 0 : (computeCost(one, now(), sandboxUsdPerHour) ?? 0),
  );
  return {
    cost_usd: toRoundedUsd(sum(all.map(({ cost }) => cost)) + sum(compute)),
    total_tokens: sum(all.map(({ tokens }) => tokens)),
    runs: all.length,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

async function listDescendants(runId: string, table: Pick<Table, "query">): Promise<readonly string[]> {
  const { pk, sk: prefix } = keys.descendant(runId, "");
  const found: string[] = [];
  for await (const items of readPages({ pk, prefix }, "sk", table)) {
    found.push(...items.map(({ sk }) => sk.slice(prefix.length)));
  }
  return found;
}
