import * as v from "valibot";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table, Update } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import type { RequestUsage } from "#shared/wire/run.ts";
import { type ModelTokens, parseTokens, toModelTokenUsage, toTokenAttributes, toTokenTotals } from "./model-tokens.ts";
import { toRoundedUsd } from "./money.ts";

const Sum = v.optional(v.number(), 0);

/** What a run's own model calls have used and, where the model has a price, cost in billionths of a dollar. */
export const ModelUsage = v.object({ cost: Sum, tokens: Sum, calls: Sum });
export type ModelUsage = v.InferOutput<typeof ModelUsage>;

/** What one model call has used. */
interface CallUsage extends Pick<ModelUsage, "cost" | "tokens"> {
  /** The model and its tokens, where they are known. */
  readonly of?: ModelTokens;
}

/** The usage of a run, also by model; releases before did not store which model has used what. */
export interface RunUsage extends ModelUsage {
  readonly models?: readonly ModelTokens[];
}

/**
 * Returns the writes that add what one model call of a run has cost and used, and count it at each run whose limits it counts against.
 * They belong into a transaction: a single write that is repeated after its response was lost would count the call twice.
 * @param limited those runs, which may include the run itself
 */
export function addUsage(
  runId: string,
  { cost, tokens, of }: CallUsage,
  limited: readonly string[] = [],
): readonly [Update, ...Update[]] {
  const step = { steps: 1, step_tokens: tokens };
  const others = limited.filter((id) => id !== runId);
  const own = {
    cost,
    tokens,
    calls: 1,
    ...(of === undefined ? {} : toTokenAttributes(of)),
    ...(others.length < limited.length ? step : {}),
  };
  return [addTo(runId, own), ...others.map((id) => addTo(id, step))];
}

const addTo = (runId: string, add: Readonly<Record<string, number>>): Update => ({
  kind: "update",
  key: keys.budget(runId),
  add,
});

/** Returns the write that gives a run its allowance again. */
export const resetSteps = (runId: string): Update => ({
  kind: "update",
  key: keys.budget(runId),
  set: { steps: 0, step_tokens: 0 },
});

/** Records what one model call of a run has cost and used, as `addUsage` does. */
export const noteUsage = (
  runId: string,
  used: CallUsage,
  table: Pick<Table, "transact">,
  limited?: readonly string[],
): Promise<void> => transact(table, { usage: addUsage(runId, used, limited) });

/** Formats a run's usage for responses; undefined if it has made no call. */
export function toRequestUsage({ calls, cost, tokens, models = [] }: RunUsage): RequestUsage | undefined {
  if (calls === 0) return undefined;
  const usd = toRoundedUsd(cost);
  return {
    ...{ inference_cost: usd, inference_cost_usd: usd, total_tokens: tokens },
    ...(models.length === 0 ? {} : { ...toTokenTotals(models), model_token_usage: models.map(toModelTokenUsage) }),
  };
}

/** Reads the usage of runs, in their order; undefined for a run whose head is not marked. */
export async function readUsage(
  heads: readonly { readonly run_id: string; readonly b?: true | undefined }[],
  table: Pick<Table, "batchGet">,
): Promise<(RunUsage | undefined)[]> {
  const marked = heads.filter(({ b }) => b === true).map(({ run_id }) => run_id);
  const items = await batchGetAll(marked.map(keys.budget), table);
  const found = new Map(marked.map((runId, index) => [runId, parseUsage(items[index] ?? {})]));
  return heads.map(({ run_id }) => found.get(run_id));
}

function parseUsage(item: Readonly<Record<string, unknown>>): RunUsage {
  const models = parseTokens(item);
  return { ...v.parse(ModelUsage, item), ...(models.length === 0 ? {} : { models }) };
}
