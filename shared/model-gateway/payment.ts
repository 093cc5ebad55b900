import { budgetsOf } from "#shared/budgets/budget.ts";
import { parseBudget, readBudget } from "#shared/budgets/budget-store.ts";
import { type BudgetPorts, type Reservation, reserve, settle } from "#shared/budgets/reserve.ts";
import { RunyardError } from "#shared/errors.ts";
import type { logLine } from "#shared/log/log.ts";
import type { ProvidedModel } from "#shared/models/models.ts";
import { markModelUse, noteUsage } from "#shared/records/budget-account.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import type { ChangePorts } from "#shared/runs/change-run.ts";
import { failExecution } from "#shared/runs/end-run.ts";
import { limitToKnownPrices } from "./budgeted-request.ts";
import type { Dialect, ModelRequest } from "./dialect.ts";
import { costOf, inputTokens, NOTHING_USED, outputTokenCost, priceForInput, type Usage, usualTokens } from "./usage.ts";

/** Tokens of output that a request with a budget is given where it names no limit. */
const DEFAULT_OUTPUT_TOKENS = 16_384;
/** Milliseconds after which nobody answers for a call any more: the function that made it is gone by then. */
const CALL_LASTS_MS = 16 * 60_000;

export interface PaymentPorts extends ChangePorts, BudgetPorts {
  readonly log: typeof logLine;
}

/** One call of a model as it is sent to its provider. */
export interface Call {
  readonly dialect: Dialect;
  readonly head: ExecutingHead;
  readonly model: ProvidedModel;
  readonly request: ModelRequest;
  /** Headers of the caller that are passed on. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the run's budget has set aside for it; absent where it has none. */
  readonly reservation?: Reservation;
  /** What was left out of the request. */
  readonly dropped: readonly string[];
}

/** Reserves what the call may cost, where the run has a budget; with too little left for all of it, it gets fewer tokens. */
export async function payFor(call: Call, ports: PaymentPorts): Promise<Call> {
  const { dialect, head, model } = call;
  const { run_id, execution_id } = head;
  const asked = dialect.outputOf(call.request);
  const budget = head.b === true ? await readBudget(run_id, ports.table) : parseBudget(undefined);
  const payers = budgetsOf(run_id, budget);
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
    input: costOf(input, price),
    perToken: outputTokenCost(price) * asked.answers,
    wanted: asked.limit ?? DEFAULT_OUTPUT_TOKENS,
    least: asked.least,
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

/** Tokens that a provider adds to a request, in statistics. */
const USUAL_OVERHEAD_TOKENS = 1_000;

/** How a call has ended. */
export type Outcome =
  /** The provider says what it bills. */
  | { readonly kind: "billed"; readonly usage: Usage }
  /** It was not sent, or the provider has answered with an error. */
  | { readonly kind: "free" }
  /** It was sent, and the provider does not say what it bills. */
  | { readonly kind: "unknown"; readonly usage?: Usage | undefined; readonly outputBytes: number };

/** Settles the call and notes what it has used: a call of unknown cost has cost what was reserved for it. */
export async function settleCall(call: Call, outcome: Outcome, ports: PaymentPorts): Promise<void> {
  const { head, model, reservation } = call;
  if (outcome.kind === "free") {
    if (reservation !== undefined) await settle(reservation, 0, ports);
    return;
  }
  const usage = outcome.kind === "billed" ? outcome.usage : likelyUsage(call, outcome);
  const price = model.cost && priceForInput(model.id, model.cost, inputTokens(usage));
  const counted = price === undefined ? 0 : costOf(usage, price);
  const cost = outcome.kind === "unknown" ? Math.max(counted, reservation?.amount ?? 0) : counted;
  if (reservation !== undefined) await settle(reservation, cost, ports);
  await noteUsage(head.run_id, { cost, tokens: inputTokens(usage) + usage.output }, ports.table);
  if (head.b !== true) await markModelUse(head.run_id, head.execution_id, ports.table);
  ports.log("info", "a model was called", { ...describeCall(call), ...usage, cost_nano_usd: cost });
}

/** What a call has probably used: what the provider has said before it broke off, or what is usual for its size. */
function likelyUsage(
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
