import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";
import type { RunItem } from "#shared/wire/run.ts";

const Sum = v.optional(v.number(), 0);

/** What a run's own calls of models have cost, in billionths of a dollar as far as they have a price, and used. */
export const Used = v.object({ cost: Sum, tokens: Sum, calls: Sum });
export type Used = v.InferOutput<typeof Used>;

const MAX_IN_BATCH = 100;

/** Notes what one call of a run has cost and used. */
export async function noteUsage(
  runId: string,
  { cost, tokens }: { readonly cost: number; readonly tokens: number },
  table: Table,
): Promise<void> {
  await table.write({ kind: "update", key: keys.budget(runId), add: { cost, tokens, calls: 1 } });
}

/** Marks the head of a run that has begun to use models, so that its budget is read where the run is shown. */
export async function markUser(runId: string, executionId: string, table: Table): Promise<void> {
  try {
    await table.write({
      kind: "update",
      key: keys.head(runId),
      set: { b: true },
      if: { execution_id: { eq: executionId } },
    });
  } catch (error) {
    // It has gone on without this execution, whose next call will be refused.
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** What the run has used, as it is shown with it; nothing where it has made no call. */
export function usageOf({ calls, cost, tokens }: Used): RunItem["request_usage"] {
  return calls === 0 ? undefined : { inference_cost: Math.round(cost / 1_000) / 1_000_000, total_tokens: tokens };
}

/** What those runs of a page have used whose heads say that there is such a thing; in their order. */
export async function usedBy(
  heads: readonly { readonly run_id: string; readonly b?: true | undefined }[],
  table: Pick<Table, "batchGet">,
): Promise<(Used | undefined)[]> {
  const marked = heads.filter(({ b }) => b === true).map(({ run_id }) => run_id);
  const found = new Map<string, Used>();
  for (let from = 0; from < marked.length; from += MAX_IN_BATCH) {
    const some = marked.slice(from, from + MAX_IN_BATCH);
    const items = await table.batchGet(some.map(keys.budget));
    for (const [index, runId] of some.entries()) found.set(runId, v.parse(Used, items[index] ?? {}));
  }
  return heads.map(({ run_id }) => found.get(run_id));
}
