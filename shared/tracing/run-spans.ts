import * as v from "valibot";
import { createdAtOf } from "#shared/ids.ts";
import type { RequestOrigin } from "#shared/records/request-origin.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { deriveSpanId, deriveTraceId, FIRST_TURN, parseTraceParent, turnSpanId } from "#shared/records/trace-parent.ts";
import { Message } from "#shared/wire/conversation.ts";
import type { RunEvent } from "#shared/wire/event.ts";
import { RunState } from "#shared/wire/run.ts";
import type { Span } from "./span.ts";

/** Steps of one turn beyond which spans are counted only. */
const MAX_STEPS = 5_000;

/** The events by which a harness reports a step of the setup, with its duration. */
const SETUP_TYPES: ReadonlySet<string> = new Set([
  "setup_environment_resolution",
  "setup_repo_clone",
  "setup_commands",
  "setup_mcp_servers",
  "setup_skill_loading",
] satisfies RunEvent["type"][]);

/** What the spans describe of the run itself. */
export interface TracedRun {
  readonly runId: string;
  /** The error code of its end. @default none: the type of a failure is its state */
  readonly errorCode?: string | undefined;
  /** Whether the first event that is added is of a later turn. @default false */
  readonly isContinued?: boolean;
  readonly body: Pick<
    RunBody,
    | "config"
    | "conversation_id"
    | "source"
    | "parent_run_id"
    | "ancestors"
    | "schedule"
    | "trigger"
    | "traceparent"
    | "origin"
  >;
}

/** What the spans describe of the follow-up that began a turn. */
export interface TracedFollowup {
  readonly origin?: RequestOrigin | undefined;
  /** The position of its caller, whose trace the turn continues. @default none: the turn is in the trace of the run */
  readonly traceparent?: string | undefined;
}

/** A turn that has ended. */
interface EndedTurn {
  readonly turn: Turn;
  readonly state: RunState;
  readonly at: number;
}

/** A step of a turn, without what all spans of the run have in common. */
type Step = Pick<Span, "name" | "kind" | "startedAt" | "endedAt" | "attributes" | "errorType"> & {
  /** Identifies the step within its turn. */
  readonly key: string | number;
};

interface Execution {
  readonly id: string;
  readonly startedAt: number;
  readonly steps: Step[];
}

/** The members of events that describe steps. */
const StepData = v.looseObject({
  state: v.optional(v.fallback(v.optional(RunState), undefined)),
  execution_id: v.optional(v.string()),
  is_error: v.optional(v.boolean()),
  duration_ms: v.optional(v.number()),
  /** Of a follow-up. */
  number: v.optional(v.number()),
  model_id: v.optional(v.string()),
  input_tokens: v.optional(v.number(), 0),
  output_tokens: v.optional(v.number(), 0),
  cache_read_tokens: v.optional(v.number()),
  cache_write_tokens: v.optional(v.number()),
  messages: v.optional(v.array(v.unknown()), []),
});
type StepData = v.InferOutput<typeof StepData>;

/**
 * The spans of the last turn of a run that has ended, from its events, which are added in order: the request that began the turn, the turn,
 * its executions, and below these the steps of the setup and the calls of models and of tools. Names and attributes are those of the
 * semantic conventions for generative AI where these have any; what is Runyard's own begins with `runyard.`.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
 */
export class RunSpans {
  readonly #run: TracedRun;
  readonly #traceId: string;
  readonly #parentSpanId: string | undefined;
  #turn: Turn | undefined;
  #hasTurns: boolean;
  #last: EndedTurn | undefined;

  constructor(run: TracedRun) {
    const { parent_run_id: parentRunId, ancestors, traceparent } = run.body;
    const parent = parseTraceParent(traceparent);
    this.#run = run;
    this.#hasTurns = run.isContinued === true;
    this.#traceId = parent?.traceId ?? deriveTraceId(ancestors[0] ?? run.runId);
    this.#parentSpanId =
      parent?.spanId ?? (parentRunId === undefined ? undefined : turnSpanId(parentRunId, FIRST_TURN));
  }

  /** The number of the follow-up that began the last turn that has ended; undefined for the first turn. */
  get followup(): number | undefined {
    return this.#last?.turn.followup;
  }

  /** The spans of the last turn that has ended. @param followup what began it, if that is known */
  describeLast(followup: TracedFollowup = {}): readonly Span[] {
    return this.#last === undefined ? [] : this.#toSpans(this.#last, followup);
  }

  add(event: RunEvent): void {
    const at = Date.parse(event.occurred_at);
    const data = v.parse(StepData, event.data);
    const ends = data.state !== undefined && isTerminal(data.state);
    // What comes after the end of a turn, such as its last artifact, begins no other one.
    if (this.#turn === undefined && data.state !== undefined && !ends) {
      this.#turn = this.#hasTurns
        ? new Turn(at, event.sequence, data.number)
        : new Turn(createdAtOf(this.#run.runId), FIRST_TURN);
      this.#hasTurns = true;
    }
    this.#turn?.add(event, data, at);
    if (!ends || this.#turn === undefined || data.state === undefined) return;
    this.#last = { turn: this.#turn, state: data.state, at };
    this.#turn = undefined;
  }

  #toSpans({ turn, state, at }: EndedTurn, followup: TracedFollowup): Span[] {
    const { runId, errorCode } = this.#run;
    const caller = parseTraceParent(followup.traceparent);
    const traceId = caller?.traceId ?? this.#traceId;
    const spanId = turnSpanId(runId, turn.id);
    const failed = state === "FAILED" || state === "ERROR";
    const span = (step: Step, id: string, parentSpanId: string | undefined): Span => {
      const { key: _, ...rest } = step;
      return { ...rest, traceId, spanId: id, parentSpanId };
    };
    const created = describeRequest("create_run", turn.startedAt, this.#run.body.origin);
    const creation = created === undefined ? this.#parentSpanId : deriveSpanId(runId, "request");
    const sent = describeRequest("send_followup", turn.startedAt, followup.origin);
    const isFirst = turn.id === FIRST_TURN;
    const request = isFirst ? created : sent;
    const requestId = isFirst ? deriveSpanId(runId, "request") : deriveSpanId(runId, "followup", turn.id);
    const parentSpanId = isFirst ? this.#parentSpanId : (caller?.spanId ?? creation);
    const root: Step = {
      key: 0,
      name: ["invoke_agent", this.#run.body.config.name].filter((part) => part !== undefined).join(" "),
      kind: "server",
      startedAt: turn.startedAt,
      endedAt: at,
      attributes: { ...this.#describeRun(), ...turn.usage(), "runyard.run.state": state, ...turn.dropped() },
      errorType: failed ? (errorCode ?? state.toLowerCase()) : undefined,
    };
    const executions = turn.executions.map(({ step, steps }) => {
      const id = deriveSpanId(runId, "execution", step.key);
      return [span(step, id, spanId), ...steps.map((one) => span(one, deriveSpanId(runId, "step", one.key), id))];
    });
    return [
      ...(request === undefined ? [] : [span(request, requestId, parentSpanId)]),
      span(root, spanId, request === undefined ? parentSpanId : requestId),
      ...executions.flat(),
    ];
  }

  #describeRun(): Record<string, string> {
    const { config, conversation_id, source, schedule, trigger } = this.#run.body;
    return {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": conversation_id,
      ...(config.model_id === undefined ? {} : { "gen_ai.request.model": config.model_id }),
      ...(config.name === undefined ? {} : { "gen_ai.agent.name": config.name }),
      "runyard.run.id": this.#run.runId,
      "runyard.run.source": source,
      ...(schedule === undefined ? {} : { "runyard.schedule.id": schedule.schedule_id }),
      ...(trigger === undefined ? {} : { "runyard.trigger.id": trigger.trigger_id }),
    };
  }
}

/** A request at the time of its effect; undefined if a schedule or an event had the effect, and for what earlier versions stored. */
function describeRequest(
  name: string,
  at: number,
  { request_id: id, via }: Partial<RequestOrigin> = {},
): Step | undefined {
  if (id === undefined) return undefined;
  const attributes = { "runyard.request.id": id, "runyard.request.via": via ?? "key" };
  return { key: 0, name, kind: "server", startedAt: at, endedAt: at, attributes };
}

/** One turn, until it has ended. */
class Turn {
  readonly startedAt: number;
  readonly id: number;
  /** The number of the follow-up that began it. */
  readonly followup: number | undefined;
  readonly executions: { readonly step: Step; readonly steps: readonly Step[] }[] = [];
  readonly #actions = new Map<string, number>();
  #execution: Execution | undefined;
  #input = 0;
  #output = 0;
  #steps = 0;

  constructor(startedAt: number, id: number, followup?: number) {
    this.startedAt = startedAt;
    this.id = id;
    this.followup = followup;
  }

  add(event: RunEvent, data: StepData, at: number): void {
    if (event.type === "run_pending") this.#begin(data.execution_id ?? `${event.sequence}`, at);
    else if (event.type === "execution_lost" || (data.state !== undefined && data.state !== "INPROGRESS"))
      this.#end(at, event.type === "execution_lost" ? "execution_lost" : undefined);
    else if (event.type === "model_called") this.#addModelCall(event, data, at);
    else if (event.type === "messages") this.#addToolCalls(data, at);
    else if (SETUP_TYPES.has(event.type)) this.#addSetup(event, data, at);
  }

  usage(): Record<string, number> {
    return { "gen_ai.usage.input_tokens": this.#input, "gen_ai.usage.output_tokens": this.#output };
  }

  /** How many steps have no span. */
  dropped(): Record<string, number> {
    return this.#steps <= MAX_STEPS ? {} : { "runyard.spans_dropped": this.#steps - MAX_STEPS };
  }

  #begin(id: string, at: number): void {
    this.#end(at);
    this.#execution = { id, startedAt: at, steps: [] };
  }

  #end(at: number, errorType?: string): void {
    if (this.#execution === undefined) return;
    const { id, startedAt, steps } = this.#execution;
    const attributes = { "runyard.execution.id": id };
    const step: Step = { key: id, name: "execution", kind: "internal", startedAt, endedAt: at, attributes, errorType };
    this.executions.push({ step, steps });
    this.#execution = undefined;
  }

  #addStep(step: Step): void {
    this.#steps += 1;
    if (this.#steps <= MAX_STEPS) this.#execution?.steps.push(step);
  }

  #addSetup({ type, sequence }: RunEvent, { duration_ms = 0, is_error = false }: StepData, at: number): void {
    // The sandbox has measured the duration.
    const startedAt = Math.max(this.#execution?.startedAt ?? at, at - duration_ms);
    const times = { startedAt, endedAt: at };
    const errorType = is_error ? "setup_failed" : undefined;
    this.#addStep({ key: sequence, name: type, kind: "internal", ...times, attributes: {}, errorType });
  }

  #addModelCall({ sequence }: RunEvent, data: StepData, at: number): void {
    const { model_id: model = "", duration_ms = 0, cache_read_tokens: read, cache_write_tokens: written } = data;
    this.#input += data.input_tokens;
    this.#output += data.output_tokens;
    this.#addStep({
      key: sequence,
      name: `chat ${model}`,
      kind: "client",
      startedAt: at - duration_ms,
      endedAt: at,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": data.input_tokens,
        "gen_ai.usage.output_tokens": data.output_tokens,
        ...(read === undefined ? {} : { "gen_ai.usage.cache_read.input_tokens": read }),
        ...(written === undefined ? {} : { "gen_ai.usage.cache_creation.input_tokens": written }),
      },
    });
  }

  /** An action and its result may be in different batches. */
  #addToolCalls({ messages }: StepData, at: number): void {
    for (const one of messages) {
      const message = v.safeParse(Message, one);
      if (!message.success) continue;
      const time = message.output.timestamp === undefined ? at : Date.parse(message.output.timestamp);
      for (const block of message.output.content) {
        if (block.type === "action") this.#actions.set(block.id, time);
        if (block.type !== "action_result" || block.state === "running") continue;
        const startedAt = this.#actions.get(block.action_id) ?? time;
        this.#actions.delete(block.action_id);
        this.#addStep({
          key: block.action_id,
          name: `execute_tool ${block.name}`,
          kind: "internal",
          startedAt,
          endedAt: Math.max(startedAt, time),
          attributes: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": block.name,
            "gen_ai.tool.call.id": block.action_id,
          },
          errorType: block.state === "completed" ? undefined : block.state,
        });
      }
    }
  }
}
