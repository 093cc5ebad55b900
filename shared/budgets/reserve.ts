import { randomId } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";
import { type Budget, HOLD, type Hold, parseBudget } from "./budget.ts";

/** Calls of models that may be under way at once in one tree of runs with a budget: each is kept in the budget's one item. */
const MAX_OPEN_CALLS = 200;
/** Milliseconds that a call waits for what is set aside for others to be given back. */
const WAIT_MS = 20_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export interface BudgetPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** What a call may cost: its input, and so much for each token of its output. Money is in billionths of a dollar. */
export interface Quote {
  readonly run: string;
  readonly execution: string;
  readonly input: number;
  readonly perToken: number;
  /** Tokens of output that the caller allows, and those below which the call is not worth making. */
  readonly wanted: number;
  readonly least: number;
  /** Milliseconds after which nobody answers for the call any more. */
  readonly lastsMs: number;
}

/** What is set aside for one call. */
export interface Reservation {
  readonly id: string;
  readonly payers: readonly string[];
  readonly amount: number;
  /** Tokens of output that it is enough for. */
  readonly tokens: number;
  /** Milliseconds. */
  readonly at: number;
}

export type Reserved = Reservation | "spent" | "busy";

/**
 * Sets aside what the call may cost at each of `payers`, or nothing at all. Where not everything fits, fewer tokens of output
 * are paid for; where not even the least does, but would without what is set aside for other calls, it waits for those.
 */
export async function reserve(payers: readonly string[], quote: Quote, ports: BudgetPorts): Promise<Reserved> {
  const least = Math.min(quote.wanted, quote.least);
  const give = async (tokens: number): Promise<Reservation | undefined> => {
    const amount = Math.ceil(quote.input + tokens * quote.perToken);
    const reservation = { id: randomId(), payers, amount, tokens, at: ports.now() };
    return (await holdAll(reservation, quote, ports.table)) ? reservation : undefined;
  };
  // Most calls fit, and then one write is all that it takes.
  const whole = await give(quote.wanted);
  if (whole !== undefined) return whole;
  const giveUpAt = ports.now() + WAIT_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const budgets = await Promise.all(payers.map((payer) => sweep(payer, ports)));
    const tokens = Math.min(quote.wanted, ...budgets.map(({ left }) => tokensFor(left, quote)));
    if (tokens >= least) {
      const part = await give(tokens);
      if (part !== undefined) return part;
    } else if (budgets.some((budget) => tokensFor(budget.left + heldIn(budget), quote) < least)) {
      return "spent";
    }
    if (ports.now() >= giveUpAt) return "busy";
    await ports.sleep(Math.round(pause * (0.5 + Math.random() / 2)));
  }
}

const tokensFor = (money: number, { input, perToken, wanted }: Quote): number => {
  if (money < input) return -1;
  return perToken === 0 ? wanted : Math.floor((money - input) / perToken);
};

const heldIn = ({ holds }: Budget): number => Object.values(holds).reduce((sum, { amount }) => sum + amount, 0);

/** Holds the amount at all payers, or at none. */
async function holdAll(reservation: Reservation, quote: Quote, table: Table): Promise<boolean> {
  const { id, payers, amount, at } = reservation;
  const { run, execution, lastsMs } = quote;
  const hold: Hold = { amount, at, until: at + lastsMs, run, execution };
  for (const [index, payer] of payers.entries()) {
    const held = await isWritten(
      table.write({
        kind: "update",
        key: keys.budget(payer),
        set: { [HOLD + id]: hold },
        add: { left: -amount, open: 1 },
        if: {
          left: { atLeast: amount },
          open: { absentOr: { below: MAX_OPEN_CALLS } },
          [HOLD + id]: { exists: false },
        },
      }),
    );
    if (held) continue;
    await Promise.all(payers.slice(0, index).map((earlier) => giveBack(earlier, id, amount, 0, table)));
    return false;
  }
  return true;
}

/**
 * The call is over and has cost `cost`, which is nothing where it was not sent: what else was reserved is free again. Where the
 * reservation has expired, it was charged in full, and where this very write has removed it at an earlier attempt, nothing is left
 * to do either.
 */
export async function settle({ id, payers, amount }: Reservation, cost: number, { table }: Sweeping): Promise<void> {
  await Promise.all(payers.map((payer) => giveBack(payer, id, amount, cost, table)));
}

/** Ends a reservation; false where it is not there any more. */
const giveBack = (payer: string, id: string, amount: number, cost: number, table: Table): Promise<boolean> =>
  isWritten(
    table.write({
      kind: "update",
      key: keys.budget(payer),
      remove: [HOLD + id],
      add: { left: amount - cost, spent: cost, open: -1 },
      if: { [HOLD + id]: { exists: true } },
    }),
  );

type Sweeping = Pick<BudgetPorts, "table" | "now">;

/**
 * The budget as it stands, after the reservations whose time is over are charged in full: the gateway that made them died, and what
 * its calls have cost is not known. A gateway reads an answer to its end even where the execution is over, so that says nothing.
 */
export async function sweep(payer: string, { table, now }: Sweeping): Promise<Budget> {
  const budget = parseBudget(await table.get(keys.budget(payer)));
  const expired = Object.entries(budget.holds).filter(([, { until }]) => until <= now());
  if (expired.length === 0) return budget;
  await Promise.all(expired.map(([id, { amount }]) => giveBack(payer, id, amount, amount, table)));
  return parseBudget(await table.get(keys.budget(payer)));
}

async function isWritten(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
