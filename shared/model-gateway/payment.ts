import { addSpending, noteExhausted, type Payer } from "#shared/budgets/budget-store.ts";
import { readPayers } from "#shared/budgets/payers.ts";
import { type BudgetPorts, type Reservation, reserve, settle } from "#shared/budgets/reserve.ts";
import type { TeamMonth } from "#shared/budgets/team-month.ts";
import { RunyardError } from "#shared/errors.ts";
import type { logLine } from "#shared/log/log.ts";
import type { ProvidedModel } from "#shared/models/models.ts";
import { toUsd } from "#shared/records/money.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import type { Team } from "#shared/records/team.ts";
import type { ChangePorts } from "#shared/runs/change-run.ts";
import { endAtLimit } from "#shared/runs/end-run.ts";
import { limitToKnownPrices } from "./budgeted-request.ts";
import { recordCall } from "./call-event.ts";
import type { Dialect, ModelRequest } from "./dialect.ts";
import type { OwnKey } from "./keys/own-key.ts";
import { requireAllowance } from "./run-limits.ts";
import {
  calculateCost,
  highestPrice,
  inputTokens,
  isFree,
  NOTHING_USED,
  outputTokenCost,
  priceForInput,
  type Usage,
  usualTokens,
} from "./usage.ts";

/** Tokens of output that a request with a budget is given where it names no limit. */
const DEFAULT_OUTPUT_TOKENS = 16_384;
/** Milliseconds after which a call is abandoned: its function has ended by then. */
const CALL_LASTS_MS = 16 * 60_000;

export interface PaymentPorts extends ChangePorts, BudgetPorts {
  readonly log: typeof logLine;
}

/** One call of a model as it is sent to its provider. */
export interface Call {
  readonly dialect: Dialect;
  readonly head: ExecutingHead;
  readonly model: ProvidedModel;
  /** Milliseconds. */
  readonly startedAt: number;
  readonly request: ModelRequest;
  /** Headers of the caller that are passed on. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is reserved for it in the budgets of the run and its team; absent if there are none. */
  readonly reservation?: Reservation;
  /** The month of the run's team that its cost is added to; absent if nothing is to be added. */
  readonly countedIn?: TeamMonth;
  /** What is left of the limits of the run, for its agent, once that is little. */
  readonly left?: string;
  /** What was dropped from the request. */
  readonly dropped: readonly string[];
  /** The run's team. */
  readonly team?: Team | undefined;
  /** The key of the team or the run, in place of the deployment's. */
  readonly ownKey?: OwnKey | undefined;
}

/**
 * Ends the run where a limit is reached, and reserves what the call may cost if the run or its team has a budget. With too little budget for the full request, its output limit
 * is lowered.
 */
export async function payFor<T extends Call>(call: T, ports: PaymentPorts): Promise<T> {
  const { dialect, head, model, startedAt } = call;
  const { run_id, execution_id } = head;
  const limits = dialect.readOutputLimits(call.request);
  const options = { startedAt, isFree: isFree(model), hasOwnKey: call.ownKey !== undefined, team: call.team };
  const { payers, limited, ...month } = await readPayers(head, options, ports.table);
  const allowance = await requireAllowance(head, limited, ports);
  const counted = { ...month, ...(allowance === undefined ? {} : { left: allowance }) };
  if (payers.length === 0) return { ...call, ...counted };
  if (model.cost === undefined) {
    const [first] = payers.map(describePayer);
    throw new RunyardError("integration_not_configured", {
      detail: `${first}, and the price of ${model.id} is not known: choose a model with a price, give it one, or limit the run by max_total_tokens`,
    });
  }
  const { request, headers, input, dropped } = limitToKnownPrices(
    call.request,
    call.headers,
    dialect,
    model.providerKind,
  );
  const price = highestPrice(model, model.cost, inputTokens(input));
  const quote = {
    run: run_id,
    execution: execution_id,
    input: calculateCost(input, price),
    perToken: outputTokenCost(price) * limits.choices,
    wanted: limits.limit ?? DEFAULT_OUTPUT_TOKENS,
    least: limits.least,
    lastsMs: CALL_LASTS_MS,
  };
  const reservation = await reserve(payers, quote, ports);
  if (reservation === "busy") {
    const detail = "the budget is set aside for other calls under way: try again";
    throw new RunyardError("resource_unavailable", { status: 429, retryAfterSeconds: 2, detail });
  }
  if ("spent" in reservation) {
    const { spent } = reservation;
    const detail = describeSpent(spent, model.id);
    if (spent.kind === "month" && "key" in spent.month) await noteExhausted(spent.month, ports.table);
    await endAtLimit(head, detail, ports);
    throw new RunyardError("budget_exceeded", { detail });
  }
  return {
    ...call,
    ...counted,
    headers,
    dropped: [...call.dropped, ...dropped],
    request: dialect.withOutputLimit(request, reservation.tokens, model.providerKind),
    reservation,
  };
}

const describePayer = (payer: Payer): string => {
  if (payer.kind === "run") return "the run has a budget";
  return "team" in payer.month ? "the team has a monthly budget" : "the run's key has a monthly budget";
};

function describeSpent(payer: Payer, modelId: string): string {
  const more = `is not enough for another call of ${modelId}`;
  if (payer.kind === "run") return `what is left of the run's budget ${more}`;
  const renews = new Date(payer.month.endsAt).toISOString().slice(0, 10);
  const owner = "team" in payer.month ? "the team's" : "its key's";
  return `what is left of ${owner} monthly budget of ${toUsd(payer.limit)} US dollars ${more}; it renews on ${renews} (UTC)`;
}

/** Tokens that a provider usually adds to a request, for estimates. */
const USUAL_OVERHEAD_TOKENS = 1_000;

/** How a call has ended. */
export type Outcome =
  /** The provider has reported the usage. */
  | { readonly kind: "billed"; readonly usage: Usage }
  /** The call was not sent, or the provider responded with an error. */
  | { readonly kind: "free" }
  /** The call was sent, and the provider has not reported the usage. */
  | { readonly kind: "unknown"; readonly usage?: Usage | undefined; readonly outputBytes: number };

/** Settles the call and records its usage. A call of unknown usage costs what was reserved for it. */
export async function settleCall(call: Call, outcome: Outcome, ports: PaymentPorts): Promise<void> {
  const { model, reservation, countedIn } = call;
  if (outcome.kind === "free") {
    if (reservation !== undefined) await settle(reservation, 0, ports);
    return;
  }
  const usage = outcome.kind === "billed" ? outcome.usage : estimateUsage(call, outcome);
  const price = model.cost && priceForInput(model, model.cost, inputTokens(usage));
  const counted = price === undefined ? 0 : calculateCost(usage, price);
  const cost = outcome.kind === "unknown" ? Math.max(counted, reservation?.amount ?? 0) : counted;
  if (reservation !== undefined) await settle(reservation, cost, ports);
  if (countedIn !== undefined && cost > 0) await addSpending(countedIn, cost, ports.table);
  await recordCall(call, { usage, cost: price && cost, isEstimated: outcome.kind === "unknown" }, ports);
  ports.log("info", "a model was called", { ...describeCall(call), ...usage, cost_nano_usd: cost });
}

/** Estimates the usage of a call from what the provider has reported before an interruption, or from its size. */
function estimateUsage(
  { request }: Call,
  { usage, outputBytes }: { readonly usage?: Usage | undefined; readonly outputBytes: number },
): Usage {
  const input = usualTokens(Buffer.byteLength(JSON.stringify(request))) + USUAL_OVERHEAD_TOKENS;
  const tokens = usage ?? { ...NOTHING_USED, input };
  return { ...tokens, output: Math.max(tokens.output, usualTokens(outputBytes)) };
}

export const describeCall = ({ head, model }: Call) => ({
  run: head.run_id,
  execution: head.execution_id,
  model: model.id,
});
