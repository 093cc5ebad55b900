import * as v from "valibot";
import { ModelUsage } from "#shared/records/budget-account.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Item, type Put, type Table } from "#shared/table/table.ts";

/** Model calls in progress at the same time in one run tree with a budget: the budget's one item holds each of them. */
const MAX_OPEN_CALLS = 200;

/** Prefix of the attributes that hold reservations; the id of the call follows. */
const HOLD = "h_";

/** What is reserved for one model call in progress. Money is in billionths of a dollar. */
const Hold = v.object({
  amount: v.number(),
  /** Milliseconds: when it was reserved, and when it is charged in full if nobody has settled it. */
  at: v.number(),
  until: v.number(),
  /** The execution that makes the call. */
  run: v.string(),
  execution: v.string(),
});
export type Hold = v.InferOutput<typeof Hold>;

const Sum = v.optional(v.number(), 0);
const Stored = v.object({
  ...ModelUsage.entries,
  /** Of a run with a budget of its own: that budget, what is left of it, and what the run and its descendants have spent. */
  limit: v.exactOptional(v.number()),
  left: Sum,
  spent: Sum,
  /** Number of reservations. */
  open: Sum,
  /** The ancestors whose budgets the run draws on as well, the nearest first. */
  above: v.optional(v.array(v.string()), []),
});

/** What a run has spent on models, and whose budgets it draws on. `limit` = `left` + `spent` + all holds, at any moment. */
export interface Budget extends v.InferOutput<typeof Stored> {
  readonly holds: Readonly<Record<string, Hold>>;
}

export function parseBudget(item: Item | undefined): Budget {
  const holds = Object.entries(item ?? {})
    .filter(([name]) => name.startsWith(HOLD))
    .map(([name, hold]) => [name.slice(HOLD.length), v.parse(Hold, hold)] as const);
  return { ...v.parse(Stored, item ?? {}), holds: Object.fromEntries(holds) };
}

/** What the model calls of a run may cost. */
export interface Allowance {
  /** The run's own budget in billionths of a dollar; absent where it only draws on those of its ancestors. */
  readonly limit?: number | undefined;
  readonly above: readonly string[];
}

/** Returns the write of the budget of a new run that has one, or draws on one. */
export const putBudget = (runId: string, { limit, above }: Allowance): Put => ({
  kind: "put",
  item: {
    ...keys.budget(runId),
    v: 1,
    ...(limit === undefined ? {} : { limit, left: limit }),
    ...(above.length === 0 ? {} : { above: [...above] }),
  },
});

/** Reads a run's budget; an empty one where the run has none. */
export const readBudget = async (runId: string, table: Table): Promise<Budget> =>
  parseBudget(await table.get(keys.budget(runId)));

/** Reads the budgets of runs, in their order. */
export const readBudgets = async (runIds: readonly string[], table: Table): Promise<Budget[]> =>
  (await table.batchGet(runIds.map(keys.budget))).map(parseBudget);

/** Reserves an amount for a call. Returns false where less than that is left, or too many calls are in progress. */
export const addHold = (payer: string, id: string, hold: Hold, table: Table): Promise<boolean> =>
  isWritten(
    table.write({
      kind: "update",
      key: keys.budget(payer),
      set: { [HOLD + id]: hold },
      add: { left: -hold.amount, open: 1 },
      if: {
        left: { atLeast: hold.amount },
        open: { absentOr: { below: MAX_OPEN_CALLS } },
        [HOLD + id]: { exists: false },
      },
    }),
  );

/** Ends the reservation of `amount` for a call that has cost `cost`. Returns false where the reservation has ended already. */
export const removeHold = (payer: string, id: string, amount: number, cost: number, table: Table): Promise<boolean> =>
  isWritten(
    table.write({
      kind: "update",
      key: keys.budget(payer),
      remove: [HOLD + id],
      add: { left: amount - cost, spent: cost, open: -1 },
      if: { [HOLD + id]: { exists: true } },
    }),
  );

async function isWritten(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
