import { listBudgets } from "#shared/budgets/budget.ts";
import { parseBudget, readBudget } from "#shared/budgets/budget-store.ts";
import { type BudgetPorts, type Reservation, reserve, settle } from "#shared/budgets/reserve.ts";
import { RunyardError } from "#shared/errors.ts";
import type { logLine } from "#shared/log/log.ts";
import type { ProvidedModel } from "#shared/models/models.ts";
import { noteUsage } from "#shared/records/budget-account.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import type { ChangePorts } from "#shared/runs/change-run.ts";
import { failExecution } from "#shared/runs/end-run.ts";
import { limitToKnownPrices } from "./budgeted-request.ts";
import { recordCall } from "./call-event.ts";
import type { Dialect, ModelRequest } from "./dialect.ts";
import {
  calculateCost,
  inputTokens,
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
  /** What the run's budget has reserved for it; absent if the run has no budget. */
  readonly reservation?: Reservation;
  /** What was dropped from the request. */
  readonly dropped: readonly string[];
}

/** Reserves what the call may cost if the run has a budget. With too little budget for the full request, its output limit is lowered. */
export async function payFor(call: Call, ports: PaymentPorts): Promise<Call> {
  const { dialect, head, model } = call;
  const { run_id, execution_id } = head;
  const limits = dialect.readOutputLimits(call.request);
  const budget = head.b === true ? await readBudget(run_id, ports.table) : parseBudget(undefined);
  const payers = listBudgets(run_id, budget);
  if (payers.length === 0) return call;
  if (model.cost === undefined) {
    throw new RunyardError("integration_not_configured", {
      detail: `the run has a budget, and the price of ${model.id} is not known: choose a model with a price, or give it one`,
    });
  }
  const { request, headers, input, dropped } = limitToKnownPrices(call.request, call.headers, dialect, model.of);
  const price = priceForInput(model.id, model.cost, inputTokens(input));
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
  if (reservation === "spent") {
    const detail = `what is left of the run's budget is not enough for another call of ${model.id}`;
    await failExecution(head, "budget_exceeded", detail, ports);
    throw new RunyardError("budget_exceeded", { detail });
  }
  if (reservation === "busy") {
    const detail = "the budget is set aside for other calls under way: try again";
    throw new RunyardError("resource_unavailable", { status: 429, retryAfterSeconds: 2, detail });
  }
  return {
    ...call,
    headers,
    dropped: [...call.dropped, ...dropped],
    request: dialect.withOutputLimit(request, reservation.tokens, model.of),
    reservation,
  };
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
  const { head, model, reservation } = call;
  if (outcome.kind === "free") {
    if (reservation !== undefined) await settle(reservation, 0, ports);
    return;
  }
  const usage = outcome.kind === "billed" ? outcome.usage : estimateUsage(call, outcome);
  const price = model.cost && priceForInput(model.id, model.cost, inputTokens(usage));
  const counted = price === undefined ? 0 : calculateCost(usage, price);
  const cost = outcome.kind === "unknown" ? Math.max(counted, reservation?.amount ?? 0) : counted;
  if (reservation !== undefined) await settle(reservation, cost, ports);
  await noteUsage(head.run_id, { cost, tokens: inputTokens(usage) + usage.output }, ports.table);
  await recordCall(call, { usage, cost: price && cost, isEstimated: outcome.kind === "unknown" }, ports);
  ports.log("info", "a model was called", { ...describeCall(call), ...usage, cost_nano_usd: cost });
}

/** Estimates the usage of a call from what the provider has reported before an interruption, or from its size. */
function estimateUsage(
  { request }: Call,
  { usage, outputBytes }: { readonly usage?: Usage | undefined; readonly outputBytes: number },
): Usage {
  const input = usualTokens(Buffer.byteLength(JSON.stringify(request))) + USUAL_OVERHEAD_TOKENS;
  const said = usage ?? { ...NOTHING_USED, input };
  return { ...said, output: Math.max(said.output, usualTokens(outputBytes)) };
}

export const describeCall = ({ head, model }: Call) => ({
  run: head.run_id,
  execution: head.execution_id,
  model: model.id,
});
