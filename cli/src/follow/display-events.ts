import * as v from "valibot";
import { firstText } from "../first-text.ts";

/** An event of a run, as any reader of the API has it. */
export interface ApiEvent {
  readonly type: string;
  readonly occurred_at: string;
  readonly data: unknown;
}

/** The start of an action: a command, or the use of another tool. */
export interface DisplayAction {
  readonly id: string;
  /** Empty for a command without a title. */
  readonly title: string;
  /** The input whole: the command, or the members of the input. */
  readonly input: string;
  readonly isCommand: boolean;
}

/** An event of a run for display. Texts come from the sandbox and are untrusted. */
export type DisplayEvent = { readonly at: string } & (
  | {
      readonly kind: "step";
      /** The type of the event. */
      readonly type: string;
      /** The state that the run moved to; absent for any other step. */
      readonly state?: string | undefined;
      /** What was done; absent where the state says it. */
      readonly name?: string | undefined;
      readonly durationMs?: number | undefined;
      readonly detail?: string | undefined;
      readonly failed: boolean;
      /** The id of the live output of a setup command. */
      readonly actionId?: string | undefined;
      /** What a setup command printed. */
      readonly output?: string | undefined;
    }
  | ({ readonly kind: "action" } & DisplayAction)
  | {
      readonly kind: "result";
      readonly id: string;
      /** The action, where it directly precedes its result: then it has no event of its own. */
      readonly action?: DisplayAction;
      readonly title: string | undefined;
      readonly summary: string;
      readonly failed: boolean;
      /** The output whole. */
      readonly output: string;
      readonly diff: string | undefined;
      /** False where the summary and the diff say enough. */
      readonly showsOutput: boolean;
    }
  | {
      readonly kind: "text";
      readonly text: string;
      /** The id of the live output that the text replaces. */
      readonly id: string | undefined;
    }
);

/** Whether the event shows the start of a command. */
export const isCommand = (event: DisplayEvent): boolean =>
  (event.kind === "action" && event.isCommand) || (event.kind === "result" && event.action?.isCommand === true);

/** The display events of an event, in order; empty if there is nothing to show. */
export function toDisplayEvents({ type, occurred_at, data }: ApiEvent): DisplayEvent[] {
  // One for each call would hide what the agent does; the run's usage has their sum.
  if (type === "model_called") return [];
  if (type !== "messages") return [step(type, occurred_at, data)];
  const parsed = v.safeParse(Messages, data);
  if (!parsed.success) return [];
  const all = parsed.output.messages.flatMap(({ role, content, timestamp }) =>
    content.flatMap((block) => ofBlock(block, role, earlier(timestamp, occurred_at))),
  );
  return joinResults(all);
}

/** The time of a message by the sandbox's clock, but never later than the service received it. */
function earlier(timestamp: string | undefined, occurredAt: string): string {
  return timestamp !== undefined && Date.parse(timestamp) <= Date.parse(occurredAt) ? timestamp : occurredAt;
}

function joinResults(events: readonly DisplayEvent[]): DisplayEvent[] {
  const joined: DisplayEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (event.kind === "result" && last?.kind === "action" && last.id === event.id) {
      joined.splice(-1, 1, { ...event, at: last.at, action: last });
    } else joined.push(event);
  }
  return joined;
}

const Text = v.optional(v.string());
const StepData = v.object({
  state: Text,
  duration_ms: v.optional(v.number()),
  is_error: v.optional(v.boolean()),
  detail: Text,
  message: Text,
  filepath: Text,
  title: Text,
  url: Text,
  step: Text,
  attempt: v.optional(v.number()),
  of: v.optional(v.number()),
  reason: Text,
  next_in_ms: v.optional(v.number()),
  action_id: Text,
  output: Text,
});

type StepData = v.InferOutput<typeof StepData>;

/** What events are called; the name of any other event says it. */
const NAMES: Readonly<Record<string, string>> = {
  worker_container_ready: "sandbox ready",
  setup_environment_resolution: "prepared",
  setup_repo_clone: "cloned",
  setup_commands: "setup",
  setup_mcp_servers: "MCP server",
  setup_skill_loading: "loaded skill",
  checkpoint_saved: "checkpoint",
  artifact_created: "artifact",
  branch_pushed: "push",
  user_notified: "notification",
  run_waiting: "",
  model_retry: "model failed",
};

/** The name of a part of the setup while it runs. */
const STARTED: Readonly<Record<string, string>> = {
  setup_environment_resolution: "preparing …",
  setup_repo_clone: "cloning …",
  setup_mcp_servers: "connecting to MCP server …",
  setup_skill_loading: "loading skill …",
};

/** Why a call of the model failed, and when it is tried again. */
function retryText({ attempt, of, reason, next_in_ms }: StepData): string | undefined {
  if (attempt === undefined) return undefined;
  const most = of === undefined ? "" : ` of ${of}`;
  const next = next_in_ms === undefined ? "" : `, next in ${(next_in_ms / 1000).toFixed(1)} s`;
  return `attempt ${attempt}${most}${next}: ${reason ?? "no reason was given"}`;
}

/** A state transition is shown by its new state, anything else by its name. */
function step(type: string, at: string, data: unknown): DisplayEvent {
  const parsed = v.safeParse(StepData, data);
  const { state, duration_ms, is_error = false, ...details } = parsed.success ? parsed.output : {};
  const name = state !== undefined && type.startsWith("run_") ? undefined : (NAMES[type] ?? type.replaceAll("_", " "));
  const detail =
    retryText(details) ?? firstText([details.detail, details.message, details.filepath, details.title, details.url]);
  const common = { kind: "step", type, at, detail, actionId: details.action_id } as const;
  if (type === "setup_started") return { ...common, name: STARTED[details.step ?? ""] ?? "setup …", failed: false };
  return { ...common, state, name, durationMs: duration_ms, failed: is_error, output: details.output };
}

/** The event of the conversation with the summary that the model got instead of earlier messages. */
const COMPACTED = "conversation_compacted";
const Summary = v.object({ summary: v.string() });

/** Blocks of kinds that this version does not know have nothing to show. */
const Block = v.variant("type", [
  v.object({ type: v.literal("text"), text: v.string(), message_id: Text }),
  v.object({ type: v.literal("action"), id: v.string(), name: v.string(), title: Text, input: v.unknown() }),
  v.object({
    type: v.literal("action_result"),
    action_id: v.string(),
    state: v.string(),
    title: Text,
    summary: Text,
    diff: Text,
    output: v.unknown(),
  }),
  v.object({ type: v.literal("event"), name: v.literal(COMPACTED), data: Summary }),
]);
type Result = Extract<v.InferOutput<typeof Block>, { type: "action_result" }>;
const Messages = v.object({
  messages: v.array(v.object({ role: v.string(), content: v.array(v.unknown()), timestamp: v.optional(v.string()) })),
});
const Command = v.object({ command: v.string() });

function ofBlock(given: unknown, role: string, at: string): DisplayEvent[] {
  const parsed = v.safeParse(Block, given);
  if (!parsed.success) return [];
  const block = parsed.output;
  switch (block.type) {
    case "text":
      return role === "assistant" ? [{ kind: "text", at, text: block.text, id: block.message_id }] : [];
    case "action": {
      const { id, name, input } = block;
      const command = v.safeParse(Command, input);
      const inputText = command.success ? command.output.command : asText(input);
      const title = block.title ?? (command.success ? "" : name);
      return [{ kind: "action", at, id, title, input: inputText, isCommand: command.success }];
    }
    case "action_result":
      return [{ kind: "result", at, ...ofResult(block) }];
    case "event": {
      const { summary } = block.data;
      return [{ kind: "step", type: block.name, at, name: "summarized", detail: summary, failed: false }];
    }
  }
}

const Output = v.object({
  exit_code: v.optional(v.nullable(v.number())),
  output: Text,
  stdout: Text,
  stderr: Text,
});

function ofResult({ action_id: id, state, title, summary, diff, output }: Result) {
  const failed = state !== "completed";
  const known = { id, title, failed, diff };
  const parsed = v.safeParse(Output, output);
  const { exit_code, ...texts } = parsed.success ? parsed.output : {};
  const isShell = exit_code !== undefined;
  const stateText = state === "completed" && title !== undefined ? "done" : state;
  const status = typeof exit_code === "number" ? `exit ${exit_code}` : stateText;
  const text = [texts.output, texts.stdout, texts.stderr].filter(Boolean).join("\n");
  // Harnesses without titles and summaries say nothing else.
  const showsOutput = isShell || (summary === undefined && title === undefined);
  return { ...known, summary: summary ?? status, output: text || (isShell ? "" : asText(output)), showsOutput };
}

/** A value whole, as text. An empty one has nothing to show. */
function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null || JSON.stringify(value) === "{}") return "";
  return JSON.stringify(value, null, 2) ?? "";
}
