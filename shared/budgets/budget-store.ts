import * as v from "valibot";
import { ModelUsage } from "#shared/records/budget-account.ts";
import { parseTeam, type Team } from "#shared/records/team.ts";
import { keys } from "#shared/table/keys.ts";
import {
  ConditionFailed,
  type Item,
  type Key,
  type Put,
  type Table,
  TableBusy,
  type Update,
  type Value,
} from "#shared/table/table.ts";
import { ConflictError, transact } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";
import type { KeyMonth, TeamMonth } from "./team-month.ts";

/** Model calls in progress at the same time that one budget pays for: its one item holds each of them. */
const MAX_OPEN_CALLS = 200;

/** Days that a month is kept after its end, like the counters of usage reports. */
const KEPT_DAYS = 402;
const DAY_SECONDS = 86_400;

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

const KeyBudget = v.object({ hash: v.string(), limit: v.number() });
/** The monthly budget of a key, in billionths of a dollar. */
export type KeyBudget = v.InferOutput<typeof KeyBudget>;

const Sum = v.optional(v.number(), 0);
const Stored = v.object({
  ...ModelUsage.entries,
  /**
   * Of a run with a budget of its own: that budget, what is left of it, and what the run and its descendants have spent. Of a team's
   * month there is no limit, since it is a setting of the team that may change: what is left is counted from 0 down.
   */
  limit: v.exactOptional(v.number()),
  left: Sum,
  spent: Sum,
  /** Number of reservations. */
  open: Sum,
  /** The ancestors whose budgets the run draws on as well, the nearest first. */
  above: v.optional(v.array(v.string()), []),
  /** The limits of a run's model calls, and the responses and tokens, also of its descendants, that count against them. */
  max_steps: v.exactOptional(v.number()),
  max_tokens: v.exactOptional(v.number()),
  steps: Sum,
  step_tokens: Sum,
  /** The key that the run, or its first ancestor, was created with, if the key has a budget: by its hash, with the budget. */
  key: v.exactOptional(KeyBudget),
});

/** What a run, or a team in a month, has spent on models. `limit` (or 0) = `left` + `spent` + all holds, at any moment. */
export interface Budget extends v.InferOutput<typeof Stored> {
  readonly holds: Readonly<Record<string, Hold>>;
}

export function parseBudget(item: Item | undefined): Budget {
  const holds = Object.entries(item ?? {})
    .filter(([name]) => name.startsWith(HOLD))
    .map(([name, hold]) => [name.slice(HOLD.length), v.parse(Hold, hold)] as const);
  return { ...v.parse(Stored, item ?? {}), holds: Object.fromEntries(holds) };
}

/** A budget that model calls are paid from. */
export type Payer =
  | { readonly kind: "run"; readonly runId: string }
  /** A month of a team or a key, with its limit in billionths of a dollar. */
  | { readonly kind: "month"; readonly month: TeamMonth | KeyMonth; readonly limit: number };

const monthKey = (of: TeamMonth | KeyMonth): Key =>
  "team" in of ? keys.teamMonth(of.team, of.month) : keys.keyMonth(of.key, of.month);
const keyOf = (payer: Payer): Key => (payer.kind === "run" ? keys.budget(payer.runId) : monthKey(payer.month));

/** Attributes of a month's item, which its first call creates. */
const monthAttributes = ({ endsAt }: Pick<TeamMonth, "endsAt">): Readonly<Record<string, Value>> => ({
  v: 1,
  expires_at: endsAt / 1000 + KEPT_DAYS * DAY_SECONDS,
});

/** What is spent at a time, in milliseconds: settled calls, and expired reservations, which are charged in full. */
export const spentAt = ({ spent, holds }: Budget, at: number): number =>
  Object.values(holds).reduce((sum, { amount, until }) => sum + (until <= at ? amount : 0), spent);

/** What the model calls of a run may cost. */
export interface Allowance {
  /** The run's own budget in billionths of a dollar; absent where it only draws on those of its ancestors. */
  readonly limit?: number | undefined;
  readonly above: readonly string[];
  /** The budget of the key that it is created with. */
  readonly key?: KeyBudget | undefined;
}

/** How many responses of models a run may have, and how many tokens they may use. */
interface CallLimits {
  readonly max_steps?: number | undefined;
  readonly max_total_tokens?: number | undefined;
}

/** Returns the write of the budget of a new run that has one, or draws on one, and of its limits. */
export const putBudget = (
  runId: string,
  { limit, above, key }: Allowance,
  { max_steps, max_total_tokens }: CallLimits = {},
): Put => ({
  kind: "put",
  item: {
    ...keys.budget(runId),
    v: 1,
    ...(limit === undefined ? {} : { limit, left: limit }),
    ...(above.length === 0 ? {} : { above: [...above] }),
    ...(max_steps === undefined ? {} : { max_steps }),
    ...(max_total_tokens === undefined ? {} : { max_tokens: max_total_tokens }),
    ...(key === undefined ? {} : { key }),
  },
});

/** Reads a run's budget; an empty one where the run has none. */
export const readBudget = async (runId: string, table: Pick<Table, "get">): Promise<Budget> =>
  parseBudget(await table.get(keys.budget(runId)));

/** Reads a payer's budget with what is left of it, which is less than 0 where a team has spent more than its present limit. */
export async function readPayer(payer: Payer, table: Table): Promise<Budget> {
  const budget = parseBudget(await table.get(keyOf(payer)));
  return payer.kind === "run" ? budget : { ...budget, left: payer.limit + budget.left };
}

/** Reads a team with what its runs have spent in a month. */
export async function readTeamInMonth(
  month: TeamMonth,
  table: Pick<Table, "batchGet">,
): Promise<{ readonly team: Team | undefined; readonly budget: Budget }> {
  const [team, budget] = await table.batchGet([keys.team(month.team), monthKey(month)]);
  return { team: team && parseTeam(team), budget: parseBudget(budget) };
}

/** Reads the budgets of runs, in their order. */
export const readBudgets = async (runIds: readonly string[], table: Pick<Table, "batchGet">): Promise<Budget[]> =>
  (await table.batchGet(runIds.map(keys.budget))).map(parseBudget);

/**
 * Reserves an amount for a call at all payers, or at none. Returns false where less than that is left at one of them, too many calls
 * are in progress, or other calls write the same items all the time.
 */
export async function addHolds(payers: readonly Payer[], id: string, hold: Hold, table: Table): Promise<boolean> {
  // A month without an item has all of its limit left, which no condition on its attributes expresses.
  if (payers.some((payer) => payer.kind === "month" && payer.limit < hold.amount)) return false;
  const [first, ...others] = payers.map((payer) => toHold(payer, id, hold));
  if (first === undefined) return true;
  try {
    // Single writes of one item queue, while transactions cancel each other.
    if (others.length === 0) await table.write(first);
    else await transact(table, { holds: [first, ...others] });
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed || error instanceof ConflictError || error instanceof TableBusy) return false;
    throw error;
  }
}

function toHold(payer: Payer, id: string, hold: Hold): Update {
  const isRun = payer.kind === "run";
  return {
    kind: "update",
    key: keyOf(payer),
    set: { [HOLD + id]: hold, ...(isRun ? {} : monthAttributes(payer.month)) },
    add: { left: -hold.amount, open: 1 },
    if: {
      left: isRun ? { atLeast: hold.amount } : { absentOr: { atLeast: hold.amount - payer.limit } },
      open: { absentOr: { below: MAX_OPEN_CALLS } },
      [HOLD + id]: { exists: false },
    },
  };
}

/** Ends the reservation of `amount` for a call that has cost `cost`. Does nothing where the reservation has ended already. */
export async function removeHold(payer: Payer, id: string, amount: number, cost: number, table: Table): Promise<void> {
  await writeIf(table, {
    kind: "update",
    key: keyOf(payer),
    remove: [HOLD + id],
    add: { left: amount - cost, spent: cost, open: -1 },
    if: { [HOLD + id]: { exists: true } },
  });
}

/** The attribute of a key's month that counts the runs created with it on the day of `at`. */
const runsOfDay = (at: number): string => `runs_${new Date(at).toISOString().slice(0, "2026-11-18".length)}`;

/**
 * Counts a run of a key in its month. Fails where as many were created on that day as it may, or where its budget is spent: where
 * nothing is left, or not enough for a call that one of its runs has requested.
 */
export const countKeyRun = (month: KeyMonth, at: number, { budget, runs }: KeyRunLimits): Update => ({
  kind: "update",
  key: monthKey(month),
  set: monthAttributes(month),
  add: { [runsOfDay(at)]: 1 },
  if: {
    ...(runs === undefined ? {} : { [runsOfDay(at)]: { absentOr: { below: runs } } }),
    ...(budget === undefined ? {} : { left: { absentOr: { atLeast: 1 - budget } }, [EXHAUSTED]: { exists: false } }),
  },
});

/** The attribute of a key's month in which a call was refused because too little was left. */
const EXHAUSTED = "exhausted";

/** Notes that the budget of a key is not enough for a call, so that no further run of it is created in the month. */
export const noteExhausted = (month: KeyMonth, table: Pick<Table, "write">): Promise<void> =>
  table.write({ kind: "update", key: monthKey(month), set: { ...monthAttributes(month), [EXHAUSTED]: true } });

interface KeyRunLimits {
  /** Billionths of a dollar that its runs may cost in the month. */
  readonly budget: number | undefined;
  readonly runs: number | undefined;
}

/** Reads what a key has spent in a month, and the runs that it has created on the day of `at`. */
export async function readKeyMonth(
  month: KeyMonth,
  at: number,
  table: Pick<Table, "get">,
): Promise<{ readonly budget: Budget; readonly runs: number }> {
  const item = await table.get(monthKey(month));
  return { budget: parseBudget(item), runs: Number(item?.[runsOfDay(at)] ?? 0) };
}

/** Counts the cost of a call that nothing was reserved for in its month. */
export const addSpending = (month: TeamMonth, cost: number, table: Table): Promise<void> =>
  table.write({
    kind: "update",
    key: monthKey(month),
    set: monthAttributes(month),
    add: { left: -cost, spent: cost },
  });
