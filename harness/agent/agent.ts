import {
  AfterModelCallEvent,
  AfterToolsEvent,
  Agent,
  type AgentResult,
  BeforeModelCallEvent,
  BeforeToolCallEvent,
  ContextWindowOverflowError,
  configureLogging,
  MaxTokensError,
  Message,
  TextBlock,
} from "@strands-agents/sdk";
import { REASONING_LEVELS } from "#shared/wire/limits/run-limits.ts";
import type { AgentWork } from "../engine/agent-context.ts";
import type { AgentEngine, AgentTools, Turn, TurnOutcome } from "../engine/engine.ts";
import type { Tool } from "../engine/tool.ts";
import { createRetryReporter, type ModelRetry } from "../reporting/retry-reporter.ts";
import { Stop } from "../support/stop.ts";
import { toWellFormed } from "../support/text-limits.ts";
import { callAt, createSignalAt } from "../support/timers.ts";
import { AgentTool, createMissingTool, type Stage } from "./agent-tool.ts";
import { CallExecutor } from "./call-executor.ts";
import { addCompaction, NO_COMPACTION } from "./compaction.ts";
import { isOutage, ModelRetries, readOverflow, toFailure } from "./failures.ts";
import { createHiddenTools } from "./hidden-tools.ts";
import { buildHistory, listTurn } from "./history.ts";
import { createCallOrder, LoopDetector, repeatsItself } from "./loop-detection.ts";
import { createModel } from "./model.ts";
import { createCacheKey, createStructuredOutput, type OptionalMembers } from "./optional-members.ts";
import { submitPlan } from "./plan.ts";
import { createReasoning } from "./reasoning.ts";
import { createRepairs } from "./repairs.ts";
import { createImageFilter, createImageViewer } from "./shown-images.ts";
import { findResponseFault } from "./unusable-response.ts";

/** The most model responses in one turn of an execution, unless the run's `max_steps` allows more. */
const MAX_RESPONSES = 1_000;
/** The most consecutive responses that are truncated at the token limit. */
const MAX_CUT_RESPONSES = 3;
const GO_ON =
  "Your response was truncated at the token limit. Continue where it stopped, and send long content in several parts.";

/** What the agent's loop uses of its work. */
export interface EngineWork extends Pick<AgentWork, "opening" | "slice" | "signal" | "turn"> {
  readonly envelope: Pick<AgentWork["envelope"], "model_url" | "key"> & Partial<Pick<AgentWork["envelope"], "run_id">>;
  readonly context: Pick<
    AgentWork["context"],
    "mode" | "messages" | "own_messages" | "model_apis" | "vision_models"
  > & {
    readonly agent_config?: Pick<
      AgentWork["context"]["agent_config"],
      "fallback_model_ids" | "reasoning_level" | "harness" | "output_schema" | "max_steps"
    >;
  };
  readonly outbox: Pick<AgentWork["outbox"], "event" | "message" | "flush">;
  readonly live: Pick<AgentWork["live"], "text">;
}

/** Creates an agent with a language model: the loop of the Strands SDK with our tools, through the model gateway. */
export function createAgentEngine(
  modelId: string,
  systemPrompt: string,
  work: EngineWork,
  makeModel = createModel,
  defaultMaxResponses = MAX_RESPONSES,
): AgentEngine {
  const nothing = () => {};
  configureLogging({ debug: nothing, info: nothing, warn: nothing, error: nothing });
  const onRetry = createRetryReporter(work.outbox);
  const models = [modelId, ...(work.context.agent_config?.fallback_model_ids ?? [])];
  const optional = chooseOptional(work);
  const maxResponses = Math.max(defaultMaxResponses, work.context.agent_config?.max_steps ?? 0);
  const options = { systemPrompt, work, onRetry, makeModel, maxResponses, ...optional };
  return {
    async takeTurn(turn, tools) {
      for (;;) {
        const [current = modelId, next] = models;
        const outcome = await takeTurn({ ...options, modelId: current, hasFallback: next !== undefined }, turn, tools);
        if (!("outage" in outcome)) return outcome;
        if (next === undefined) return toErrorOutcome(outcome.outage);
        // The model stays for the rest of the execution, so that each turn does not wait for the outage again.
        models.shift();
        const detail = `${next} continues, because ${current} failed: ${toFailure(outcome.outage).message}`;
        work.outbox.event("agent_started", { model_id: next, detail: toWellFormed(detail) });
      }
    },
  };
}

/** Chooses the optional members of the run's requests: those of all, and those of the requests whose response may be the last. */
function chooseOptional({ context, envelope, outbox }: EngineWork): Pick<TurnOptions, "common" | "format"> {
  const { reasoning_level, harness, output_schema } = context.agent_config ?? {};
  const level = REASONING_LEVELS.find((one) => one === harness?.reasoning_level) ?? reasoning_level;
  const report = (model_id: string, detail: string) =>
    outbox.event("agent_started", { model_id, detail: toWellFormed(detail) });
  return {
    common: [
      createHiddenTools(),
      ...(level === undefined ? [] : [createReasoning(level, report)]),
      ...(envelope.run_id === undefined ? [] : [createCacheKey(envelope.run_id)]),
      ...createRepairs(),
    ],
    format: output_schema === undefined || context.mode === "plan" ? [] : [createStructuredOutput(output_schema)],
  };
}

interface TurnOptions {
  readonly modelId: string;
  readonly hasFallback: boolean;
  readonly systemPrompt: string;
  readonly work: EngineWork;
  readonly onRetry: (retry: ModelRetry) => void;
  readonly makeModel: typeof createModel;
  readonly maxResponses: number;
  readonly common: readonly OptionalMembers[];
  readonly format: readonly OptionalMembers[];
}

/** The failure of a call that another provider may carry out. */
interface Outage {
  readonly outage: unknown;
}

/** Takes the turn from what is recorded of it, with one model. */
async function takeTurn(options: TurnOptions, turn: Turn, tools: AgentTools): Promise<TurnOutcome | Outage> {
  const { modelId, systemPrompt, work, onRetry, makeModel } = options;
  const { envelope, slice, context } = work;
  const stopped = AbortSignal.any([work.signal, work.turn()]);
  const deadline = createSignalAt(slice.deadlineAt);
  const cut = new AbortController();
  const signal = AbortSignal.any([stopped, deadline, cut.signal]);
  const api = context.model_apis?.[modelId];
  const access = {
    modelId,
    api,
    modelUrl: envelope.model_url,
    key: envelope.key,
    signal,
    optional: options.common,
  };
  const state: State = { responses: 0, cut: 0, said: "", announcement: "", hints: new Set() };
  const onRemaining = (remaining: string) => noteRemaining(state, remaining);
  const model = makeModel({
    ...access,
    optional: [createImageFilter(), ...options.format, ...options.common],
    onText: work.live.text,
    onRemaining,
  });
  const retries = new ModelRetries(signal, onRetry, options.hasFallback);
  const sees = context.vision_models?.includes(modelId) === true;
  const images = createImageViewer(sees);
  const stage = createStage({ tools, images }, state, new LoopDetector(listTurn(turn)));
  const agentTools = tools.all.map((tool) => new AgentTool(tool, stage));
  const agent = new Agent({
    model,
    messages: buildHistory(turn, work),
    tools: agentTools,
    systemPrompt,
    printer: false,
    conversationManager: NO_COMPACTION,
    retryStrategy: retries,
    toolExecutor: new CallExecutor(new Set(tools.all.filter(isParallel).map(({ name }) => name))),
    sandbox: false,
  });
  addHooks(agent, stage, state, work);
  addCompaction(agent, {
    model: makeModel(access),
    retries,
    fixedTokens: await model.countTokens([], { systemPrompt, toolSpecs: agentTools.map(({ toolSpec }) => toolSpec) }),
    conversation: turn.conversation,
    outbox: work.outbox,
    rebuild: () => [...buildHistory(turn, work), ...listUnrecorded(state)],
    mayStart: () => state.ended === undefined && !isStepRefused(slice, stage),
    afterStep: () => slice.afterStep(),
  });
  const uncut = callAt(slice.cutAt, () => {
    // A response that arrives later would leave no time to save the work.
    if (isStepRefused(slice, stage)) cut.abort();
  });
  const outcome = await runLoop(agent, state, { ...options, signal })
    .catch((error: unknown) => error)
    .finally(uncut);
  if (state.broken !== undefined) throw state.broken.error;
  stopped.throwIfAborted();
  if (state.ended !== undefined) return state.ended;
  if (deadline.aborted) {
    slice.beforeStep();
    return { success: false, summary: "The model did not respond within the time of one execution." };
  }
  if (!isOutcome(outcome)) return isOutage(outcome) ? { outage: outcome } : toErrorOutcome(outcome);
  return context.mode === "plan" ? await submitPlan(outcome, state.planned === true, tools) : outcome;
}

/** The state of the turn. */
interface State {
  responses: number;
  /** Consecutive truncated responses. */
  cut: number;
  /** The text of the last response, preceded by truncated ones. */
  said: string;
  /** A response before it that announced a step without a tool call. */
  announcement: string;
  planned?: boolean;
  /** What the agent is told before its next response. */
  nudge?: string;
  /** Whether the agent was told that the limits of the run are nearly reached. */
  warned?: boolean;
  /** What the model was told since its last tool use about responses that cannot end the turn. */
  readonly hints: Set<string>;
  ended?: TurnOutcome;
  broken?: { readonly error: unknown };
}

type LoopOptions = Pick<TurnOptions, "maxResponses" | "format"> & { readonly signal: AbortSignal };

async function runLoop(
  agent: Agent,
  state: State,
  { signal, maxResponses, format }: LoopOptions,
): Promise<TurnOutcome> {
  let more: Message[] = [];
  for (;;) {
    const turns = maxResponses - state.responses;
    if (turns <= 0) return toMaximumEnd(maxResponses);
    try {
      const result = await agent.invoke(more, { cancelSignal: signal, limits: { turns } });
      const fault = findFault(agent, result, state);
      const isLimit = result.stopReason === "limitTurns";
      if (fault === undefined) return isLimit ? toMaximumEnd(maxResponses) : toOutcome(result, state);
      const end = fault.reason === undefined ? toOutcome(result, state) : { success: false, summary: fault.reason };
      if (state.hints.has(fault.hint)) return end;
      state.hints.add(fault.hint);
      // It may be a result that only ends like an announcement. A response in an output format is read by a program, and stands alone.
      if (fault.reason === undefined && format.length === 0) state.announcement = state.said;
      more = [new Message({ role: "user", content: [new TextBlock(fault.hint)] })];
    } catch (error) {
      if (!(error instanceof MaxTokensError)) throw error;
      state.responses++;
      if (++state.cut > MAX_CUT_RESPONSES) return CUT;
      const text = joinText(error.partialMessage);
      state.said += text;
      if (repeatsItself(text)) return toRepeatedEnd("its response repeats the same text until the token limit");
      more = toUnfinished(text);
    }
  }
}

/** The truncated responses that the conversation does not have yet. */
const listUnrecorded = ({ cut, said }: State): Message[] => (cut === 0 ? [] : toUnfinished(said));

function toUnfinished(text: string): Message[] {
  const response = text.trim() === "" ? [] : [new Message({ role: "assistant", content: [new TextBlock(text)] })];
  return [...response, new Message({ role: "user", content: [new TextBlock(GO_ON)] })];
}

/** Finds why the turn cannot end with this response. A turn that a tool has ended, or that has a plan, needs no text. */
function findFault(agent: Agent, { stopReason }: AgentResult, state: State) {
  const isOver = state.broken !== undefined || state.ended !== undefined || state.planned === true;
  if (isOver || (stopReason !== "endTurn" && stopReason !== "stopSequence")) return undefined;
  return findResponseFault(
    state.said,
    agent.tools.map(({ name }) => name),
  );
}

const toMaximumEnd = (responses: number): TurnOutcome => ({
  success: false,
  summary: `The turn ended after ${responses} model responses. Send a follow-up to continue.`,
});
const CUT: TurnOutcome = {
  success: false,
  summary: `The model's response was truncated at the token limit ${MAX_CUT_RESPONSES + 1} times in a row.`,
};

/** Tells the agent that it repeats itself. */
const toNudge = (what: string): string =>
  `You are repeating yourself: ${what}. Doing it again will not help. Find out why it does not work, try something else, or end your turn \
and say what stops you.`;

/** Tells the agent once that the limits of the run are nearly reached, and again before its last response. */
function noteRemaining(state: State, remaining: string): void {
  const isLast = /^1 model response\b/.test(remaining);
  if (state.warned === true && !isLast) return;
  state.warned = true;
  state.nudge = `The run ends when its limits are reached; left are: ${remaining}. Finish the most important work now, and say what is \
not done.`;
}

const toRepeatedEnd = (what: string): TurnOutcome => ({
  success: false,
  summary: `The turn was ended because the agent made no progress: ${what}. Send a follow-up to continue.`,
});

const isParallel = ({ parallel }: Tool): boolean => parallel === true;

function createStage(shared: Pick<Stage, "tools" | "images">, state: State, loops: LoopDetector): Stage {
  const calls = createCallOrder((used) => {
    const repetition = loops.observe(used);
    if (repetition === undefined) return;
    // Many calls of one response may repeat each other before the agent can read that it was told.
    if (repetition.ends && state.nudge === undefined) state.ended ??= toRepeatedEnd(repetition.what);
    else state.nudge = toNudge(repetition.what);
  });
  return {
    ...shared,
    begin(id) {
      calls.begin(id);
      const text = joinResponses(state);
      state.said = "";
      state.announcement = "";
      state.hints.clear();
      return text.trim() === "" ? undefined : text;
    },
    ended(name, { ends, isError, output }, { id, ...use }) {
      calls.end(id, { name, output, isError: isError === true, ...use });
      if (ends !== undefined) state.ended = ends;
      if (name === "create_plan" && isError !== true) state.planned = true;
    },
    broke(error) {
      state.broken ??= { error };
    },
  };
}

function addHooks(agent: Agent, stage: Stage, state: State, { slice, outbox }: EngineWork): void {
  const isOver = () => state.broken !== undefined || state.ended !== undefined;
  const names = agent.tools.map(({ name }) => name);
  agent.addHook(BeforeModelCallEvent, (event) => {
    if (isStepRefused(slice, stage) || isOver()) event.cancel = true;
    else if (state.nudge !== undefined) {
      // It is part of the record, because the conversation is rebuilt from that.
      outbox.message({ role: "system", content: [{ type: "text", text: state.nudge }] });
      agent.messages.push(new Message({ role: "user", content: [new TextBlock(state.nudge)] }));
      delete state.nudge;
    }
  });
  agent.addHook(AfterModelCallEvent, ({ stopData }) => {
    if (stopData === undefined) return;
    state.responses++;
    state.said = (state.cut > 0 ? state.said : "") + joinText(stopData.message);
    state.cut = 0;
  });
  agent.addHook(BeforeToolCallEvent, (event) => {
    if (isOver()) event.cancel = "the turn has ended";
    const { name } = event.toolUse;
    if (event.tool === undefined) event.selectedTool = new AgentTool(createMissingTool(name, names), stage);
  });
  agent.addHook(AfterToolsEvent, (event) => {
    if (isOver()) event.endTurn = true;
  });
}

/** Whether the execution has no time for another step. If so, the turn ends. */
function isStepRefused(slice: EngineWork["slice"], stage: Stage): boolean {
  try {
    slice.beforeStep();
    return false;
  } catch (error) {
    stage.broke(error);
    return true;
  }
}

/** The text of the last response after that of an announcement, unless the model has repeated it. */
const joinResponses = ({ announcement, said }: State): string =>
  said.includes(announcement.trim()) ? said : `${announcement.trimEnd()}\n\n${said}`;

function toOutcome({ stopReason }: AgentResult, state: State): TurnOutcome {
  const text = joinResponses(state);
  if (stopReason === "endTurn" || stopReason === "stopSequence") return { success: true, summary: text };
  const refused = ["refusal", "contentFiltered", "guardrailIntervened"].includes(stopReason);
  const why = refused ? "The model refused to respond." : `The model ended its response with the reason ${stopReason}.`;
  return { success: false, summary: text.trim() === "" ? why : `${why} It said: ${text}` };
}

/** @throws Stop when the run's key is no longer valid */
function toErrorOutcome(error: unknown): TurnOutcome {
  const { status, message } = toFailure(error);
  if (error instanceof ContextWindowOverflowError)
    return { success: false, summary: `The conversation exceeds the model's context window: ${readOverflow(error)}` };
  if (status === 401) throw new Stop("stale", `the model gateway returned 401: ${message}`);
  if (status === 403 && message.includes("budget_exceeded"))
    return { success: false, summary: `The run's budget is spent: ${message}` };
  const summary = `The model request failed: ${message}`;
  const isRefused = status === 400 || status === 404 || status === 422;
  return { success: false, summary, ...(isRefused ? { error_code: "invalid_request" as const } : {}) };
}

const isOutcome = (value: unknown): value is TurnOutcome =>
  typeof value === "object" && value !== null && "success" in value && "summary" in value;

const joinText = ({ content }: Message): string =>
  content.flatMap((block) => (block.type === "textBlock" ? [block.text] : [])).join("\n");
