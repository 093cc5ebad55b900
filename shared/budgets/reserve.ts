import { randomId } from "#shared/ids.ts";
import type { Table } from "#shared/table/table.ts";
import { addHolds, type Budget, type Hold, type Payer, readPayer, removeHold } from "./budget-store.ts";

/** Milliseconds that a call waits for reservations of other calls to end. */
const WAIT_MS = 20_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

export interface BudgetPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** What a call may cost: its input, and a price for each token of its output. Money is in billionths of a dollar. */
export interface Quote {
  readonly run: string;
  readonly execution: string;
  readonly input: number;
  readonly perToken: number;
  /** Tokens of output that the caller allows, and those below which the call is not worth making. */
  readonly wanted: number;
  readonly least: number;
  /** Milliseconds after which the call is over in any case, since its gateway has ended. */
  readonly lastsMs: number;
}

/** What is reserved for one call. */
export interface Reservation {
  readonly id: string;
  readonly payers: readonly Payer[];
  readonly amount: number;
  /** Tokens of output that the amount pays for. */
  readonly tokens: number;
  /** Milliseconds. */
  readonly at: number;
}

/** The nearest budget whose rest is not enough. */
export interface Spent {
  readonly spent: Payer;
}

export type Reserved = Reservation | Spent | "busy";

/**
 * Reserves what the call may cost at each of `payers`, or nothing at all. Where less is left, it reserves fewer tokens of output;
 * where not even the least is left, but would be without the reservations of other calls, it waits for those to end.
 */
export async function reserve(payers: readonly Payer[], quote: Quote, ports: BudgetPorts): Promise<Reserved> {
  const least = Math.min(quote.wanted, quote.least);
  const tryReserve = async (tokens: number): Promise<Reservation | undefined> => {
    const amount = Math.ceil(quote.input + tokens * quote.perToken);
    const reservation = { id: randomId(), payers, amount, tokens, at: ports.now() };
    return (await holdAll(reservation, quote, ports.table)) ? reservation : undefined;
  };
  // Most calls fit, which takes one write.
  const all = await tryReserve(quote.wanted);
  if (all !== undefined) return all;
  const deadline = ports.now() + WAIT_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    const found = await Promise.all(payers.map(async (payer) => ({ payer, budget: await sweep(payer, ports) })));
    const tokens = Math.min(quote.wanted, ...found.map(({ budget }) => countTokens(budget.left, quote)));
    if (tokens >= least) {
      const part = await tryReserve(tokens);
      if (part !== undefined) return part;
    } else {
      const spent = found.find(({ budget }) => countTokens(budget.left + sumHolds(budget), quote) < least);
      if (spent !== undefined) return { spent: spent.payer };
    }
    if (ports.now() >= deadline) return "busy";
    await ports.sleep(Math.round(pause * (0.5 + Math.random() / 2)));
  }
}

const countTokens = (money: number, { input, perToken, wanted }: Quote): number => {
  if (money < input) return -1;
  return perToken === 0 ? wanted : Math.floor((money - input) / perToken);
};

const sumHolds = ({ holds }: Budget): number => Object.values(holds).reduce((sum, { amount }) => sum + amount, 0);

/** Holds the amount at all payers, or at none. */
async function holdAll(reservation: Reservation, quote: Quote, table: Table): Promise<boolean> {
  const { id, payers, amount, at } = reservation;
  const { run, execution, lastsMs } = quote;
  const hold: Hold = { amount, at, until: at + lastsMs, run, execution };
  if (await addHolds(payers, id, hold, table)) return true;
  // Where the response of the write was lost, the repeated write is refused because of the first one.
  await Promise.all(payers.map((payer) => removeHold(payer, id, amount, 0, table)));
  return false;
}

/**
 * Ends the reservation of a call that has cost `cost`, which is 0 where the call was not sent; the rest is available again. Does
 * nothing where the reservation has expired, and was charged in full, or where an earlier attempt of this write has ended it.
 */
export async function settle({ id, payers, amount }: Reservation, cost: number, { table }: SweepPorts): Promise<void> {
  await Promise.all(payers.map((payer) => removeHold(payer, id, amount, cost, table)));
}

type SweepPorts = Pick<BudgetPorts, "table" | "now">;

/**
 * Charges expired reservations in full and returns the budget after that: the gateway that made them has died, and what its calls
 * have cost is not known. An ended execution is no sign of that, since a gateway reads a response to its end even then.
 */
export async function sweep(payer: Payer, { table, now }: SweepPorts): Promise<Budget> {
  const budget = await readPayer(payer, table);
  const expired = Object.entries(budget.holds).filter(([, { until }]) => until <= now());
  if (expired.length === 0) return budget;
  await Promise.all(expired.map(([id, { amount }]) => removeHold(payer, id, amount, amount, table)));
  return readPayer(payer, table);
}
