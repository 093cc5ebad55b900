import * as v from "valibot";
import { markUser, noteUsage } from "#shared/budgets/account.ts";
import { parseBudget, payersOf } from "#shared/budgets/budget.ts";
import { type BudgetPorts, type Reservation, reserve, settle } from "#shared/budgets/reserve.ts";
import { RunyardError } from "#shared/errors.ts";
import type { logLine } from "#shared/log/log.ts";
import { modelOf, type ProvidedModel } from "#shared/models/models.ts";
import type { PrincipalStore } from "#shared/principals/principal-store.ts";
import { type ChangePorts, executionOf, failWorking, fenced } from "#shared/runs/execution.ts";
import { type ExecutingHead, isExecutingHead } from "#shared/runs/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { answerHeaders, failure, failureOf, providersError } from "./answers.ts";
import { type Dialect, ModelRequest, parsedJson } from "./dialect.ts";
import { messages } from "./messages-dialect.ts";
import { chat, responses } from "./openai-dialects.ts";
import type { ModelProviders } from "./provider.ts";
import { refusePremium, refuseUnseenInput } from "./refusals.ts";
import { relay } from "./relay.ts";
import { callProvider } from "./upstream.ts";
import { costOf, estimatedInput, inputTokens, outputTokenCost, tokensOfText, type Usage } from "./usage.ts";

const DIALECTS: readonly Dialect[] = [messages, chat, responses];

/** Bytes of a request to a model: what a function of AWS takes, less its envelope. */
const MODEL_REQUEST_BYTES = 5 * 1024 * 1024;
/** Tokens of output that a request with a budget is given where it names no limit. */
const DEFAULT_OUTPUT_TOKENS = 16_384;
/** Milliseconds after which nobody answers for a call any more: the function that made it is gone by then. */
const CALL_LASTS_MS = 16 * 60_000;
/** Milliseconds between looks whether the execution that a call is for is still the run's. */
const WATCH_MS = 15_000;

export interface GatewayPorts extends ChangePorts, BudgetPorts {
  readonly principals: Pick<PrincipalStore, "authenticate">;
  readonly providers: ModelProviders;
  readonly log: typeof logLine;
  /** Milliseconds; other ones than the gateway's own, for tests. */
  readonly times?: { readonly watchMs?: number; readonly firstByteMs?: number; readonly silenceMs?: number };
}

/**
 * The model gateway: what an execution calls models by, with its run's key as the API key. It speaks Anthropic's Messages API and
 * OpenAI's Chat Completions and Responses, streamed or not, each with its own errors, below whatever address it stands at.
 */
export function modelGateway(ports: GatewayPorts): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url);
    const dialect = DIALECTS.find(({ path }) => pathname.endsWith(path));
    if (dialect === undefined) {
      const paths = DIALECTS.map(({ path }) => path).join(", ");
      return failure(pathname.includes("/anthropic/") ? messages : chat, 404, `the model gateway answers at ${paths}`);
    }
    if (request.method !== "POST") {
      const refusal = failure(dialect, 405, "send a POST");
      refusal.headers.set("allow", "POST");
      return refusal;
    }
    try {
      return await answer(request, dialect, ports);
    } catch (error) {
      if (!(error instanceof RunyardError)) ports.log("error", "a model could not be called", { error });
      return failureOf(dialect, error);
    }
  };
}

/** One call under way. */
interface Call {
  readonly dialect: Dialect;
  readonly head: ExecutingHead;
  readonly model: ProvidedModel;
  readonly request: ModelRequest;
  readonly reservation: Reservation | undefined;
  /** What it is taken to have used where the provider does not say. */
  readonly estimate: Usage;
}

async function answer(request: Request, dialect: Dialect, ports: GatewayPorts): Promise<Response> {
  const head = await callerOf(request, ports);
  const asked = await requestOf(request);
  const model = modelOf(asked.model, dialect.providers);
  const provider = ports.providers[model.of];
  if (provider === undefined) throw new RunyardError("internal_error");
  const call = await paidFor({ dialect, head, model, request: asked, estimate: estimatedInput(asked) }, ports);

  const aborter = new AbortController();
  const unwatch = watch(head, aborter, ports);
  request.signal.addEventListener("abort", () => aborter.abort());
  const over = async (usage: Usage | undefined) => {
    unwatch();
    await account(call, usage, ports);
  };
  let given: Response;
  try {
    const sent = { ...dialect.prepared(call.request), model: model.name };
    const headers = Object.fromEntries(
      dialect.passes.flatMap((name) => {
        const value = request.headers.get(name);
        return value === null ? [] : [[name, value]];
      }),
    );
    given = await callProvider(
      provider,
      { dialect, request: sent, headers, signal: aborter.signal },
      { sleep: ports.sleep, firstByteMs: ports.times?.firstByteMs },
    );
  } catch (error) {
    await over(undefined);
    if (aborter.signal.aborted) throw fenced();
    throw error;
  }
  if (!given.ok) {
    await over(undefined);
    ports.log("warn", "a model's provider refused", { ...logged(call), status: given.status });
    return providersError(dialect, given);
  }
  if (given.headers.get("content-type")?.includes("text/event-stream") && given.body !== null) {
    const meter = dialect.meter(asked);
    const done = () => over(meter.ended() ? (meter.usage() ?? guess(call, meter.bytes())) : broken(call, meter));
    const stream = relay(given.body, { dialect, meter, aborter, done, silenceMs: ports.times?.silenceMs });
    return new Response(stream, { status: given.status, headers: answerHeaders(given) });
  }
  return wholeAnswer(call, given, over);
}

/** Whose call it is: an execution that is at work. */
async function callerOf(request: Request, ports: GatewayPorts): Promise<ExecutingHead> {
  const header = (name: string) => request.headers.get(name) ?? undefined;
  const key = header("x-api-key");
  const authorization = key === undefined ? header("authorization") : `Bearer ${key}`;
  const principal = await ports.principals.authenticate(authorization, undefined);
  const head = await executionOf(principal, header, ports);
  if (head.state !== "INPROGRESS") {
    throw new RunyardError("not_authorized", { detail: "the execution has not begun: call resolve-prompt first" });
  }
  return head;
}

async function requestOf(request: Request): Promise<ModelRequest> {
  const tooLarge = new RunyardError("invalid_request", {
    status: 413,
    detail: `a request to a model has at most ${MODEL_REQUEST_BYTES} bytes`,
  });
  if (Number(request.headers.get("content-length") ?? 0) > MODEL_REQUEST_BYTES) throw tooLarge;
  const text = await request.text();
  if (Buffer.byteLength(text) > MODEL_REQUEST_BYTES) throw tooLarge;
  const parsed = v.safeParse(ModelRequest, parsedJson(text));
  if (parsed.success) {
    refusePremium(parsed.output);
    return parsed.output;
  }
  throw new RunyardError("invalid_request", { detail: "the body must be a JSON object that names a model" });
}

/** Sets aside what the call may cost, where the run has a budget; with too little left for all of it, it gets fewer tokens. */
async function paidFor(call: Omit<Call, "reservation">, ports: GatewayPorts): Promise<Call> {
  const { dialect, head, model } = call;
  const { run_id, execution_id } = head;
  const budget = parseBudget(head.b === true ? await ports.table.get(keys.budget(run_id)) : undefined);
  const payers = payersOf(run_id, budget);
  if (payers.length === 0) return { ...call, reservation: undefined };
  if (model.cost === undefined) {
    throw new RunyardError("integration_not_configured", {
      detail: `the run has a budget, and the price of ${model.id} is not known: choose a model with a price, or give it one`,
    });
  }
  refuseUnseenInput(call.request);
  const wanted = dialect.outputLimit(call.request) ?? DEFAULT_OUTPUT_TOKENS;
  const quote = {
    run: run_id,
    execution: execution_id,
    input: costOf(call.estimate, model.cost),
    perToken: outputTokenCost(model.cost) * dialect.answers(call.request),
    wanted,
    least: dialect.leastOutput(call.request),
    lastsMs: CALL_LASTS_MS,
  };
  const reservation = await reserve(payers, quote, ports);
  if (reservation === "spent") {
    const detail = `what is left of the run's budget is not enough for another call of ${model.id}`;
    await failWorking(head, "budget_exceeded", detail, ports);
    throw new RunyardError("budget_exceeded", { detail });
  }
  if (reservation === "busy") {
    const detail = "the budget is set aside for other calls under way: try again";
    throw new RunyardError("resource_unavailable", { status: 429, retryAfterSeconds: 2, detail });
  }
  const named = dialect.outputLimit(call.request);
  const request =
    named === reservation.tokens ? call.request : dialect.withOutputLimit(call.request, reservation.tokens);
  return { ...call, request, reservation };
}

/** Gives the call up as soon as its execution is not the run's any more: a cancelled run spends nothing further. */
function watch({ run_id, execution_id }: ExecutingHead, aborter: AbortController, ports: GatewayPorts): () => void {
  const look = async () => {
    const head = await ports.runs.head(run_id);
    const works = head !== undefined && isExecutingHead(head) && head.execution_id === execution_id;
    if (!works) aborter.abort();
  };
  // A look that fails says nothing; the next one comes soon.
  const timer = setInterval(() => void look().catch(() => undefined), ports.times?.watchMs ?? WATCH_MS);
  return () => clearInterval(timer);
}

async function wholeAnswer(call: Call, given: Response, over: (usage: Usage) => Promise<void>): Promise<Response> {
  const text = await given.text().catch(() => "");
  const json = parsedJson(text);
  await over(call.dialect.usageOf(json) ?? guess(call, Buffer.byteLength(text)));
  if (json === undefined) return failure(call.dialect, 502, "the model's provider answered with what is no JSON");
  return new Response(text, { status: given.status, headers: answerHeaders(given) });
}

/** What the call has used where the provider does not say. */
const guess = ({ estimate }: Call, bytes: number): Usage => ({ ...estimate, output: tokensOfText(bytes) });

/** Of an answer that broke off, the provider has said its input, and of its output what it was at the beginning. */
function broken(call: Call, meter: { usage(): Usage | undefined; bytes(): number }): Usage {
  const output = tokensOfText(meter.bytes());
  const said = meter.usage();
  return said === undefined ? { ...call.estimate, output } : { ...said, output: Math.max(said.output, output) };
}

/** Settles the call and notes what it has used. Nothing used: the call did not come about. */
async function account(call: Call, usage: Usage | undefined, ports: GatewayPorts): Promise<void> {
  const { head, model, reservation } = call;
  const cost = usage === undefined || model.cost === undefined ? 0 : costOf(usage, model.cost);
  if (reservation !== undefined) await settle(reservation, cost, ports);
  if (usage === undefined) return;
  const tokens = inputTokens(usage) + usage.output;
  await noteUsage(head.run_id, { cost, tokens }, ports.table);
  if (head.b !== true) await markUser(head.run_id, head.execution_id, ports.table);
  ports.log("info", "a model was called", { ...logged(call), ...usage, cost_nano_usd: cost });
}

const logged = ({ head, model }: Call) => ({ run: head.run_id, execution: head.execution_id, model: model.id });
