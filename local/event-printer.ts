import * as v from "valibot";
import { type Block, Message } from "../shared/wire/conversation.ts";
import type { RunEvent } from "../shared/wire/event.ts";
import { RunState } from "../shared/wire/run.ts";
import { bold, dim, green, red, seconds } from "./terminal.ts";

/** Prints one event of a run after another, each with the time since the run was submitted. */
export class EventPrinter {
  /** Milliseconds from the submission to the first command; absent until there is one. */
  firstCommandMs: number | undefined;
  readonly #since: number;
  readonly #print: (line: string) => void;

  constructor(since: number, print: (line: string) => void) {
    this.#since = since;
    this.#print = print;
  }

  print(event: RunEvent): void {
    if (event.type === "messages") {
      const messages = v.safeParse(v.object({ messages: v.array(Message) }), event.data);
      if (messages.success) for (const message of messages.output.messages) this.#message(message, event.occurred_at);
      return;
    }
    const data = v.safeParse(TimelineData, event.data);
    this.#line(event.occurred_at, timelineText(event.type, data.success ? data.output : {}));
  }

  #message(message: Message, occurredAt: string): void {
    const at = message.timestamp ?? occurredAt;
    for (const block of message.content) {
      if (block.type === "action" && block.name === "run_command") {
        this.firstCommandMs ??= Math.max(0, Date.parse(at) - this.#since);
      }
      const text = blockText(block, message.role);
      if (text === undefined) continue;
      const [first = "", ...rest] = text;
      this.#line(at, first);
      for (const line of rest) this.#print(`${" ".repeat(INDENT)}${dim(line)}`);
    }
  }

  #line(at: string, text: string): void {
    const passed = Math.max(0, Date.parse(at) - this.#since);
    this.#print(`  ${dim(seconds(passed).padStart(7))}  ${text}`);
  }
}

const INDENT = 13;
const WIDTH = 100;

const TimelineData = v.object({
  state: v.optional(RunState),
  duration_ms: v.optional(v.number()),
  is_error: v.optional(v.boolean()),
  detail: v.optional(v.string()),
  message: v.optional(v.string()),
});

/** A move is shown by the state that it leads to, any other event by its name. */
function timelineText(type: string, data: v.InferOutput<typeof TimelineData>): string {
  const parts: string[] = [];
  if (data.state !== undefined) parts.push(bold(colored(data.state)));
  if (data.state === undefined || !type.startsWith("run_")) parts.push(type.replaceAll("_", " "));
  if (data.duration_ms !== undefined) parts.push(dim(seconds(data.duration_ms)));
  const detail = data.detail ?? data.message;
  if (detail !== undefined) parts.push(dim(clip(printable(detail))));
  if (data.is_error === true) parts.push(red("failed"));
  return parts.join("  ");
}

function colored(state: RunState): string {
  if (state === "SUCCEEDED") return green(state);
  return state === "FAILED" || state === "ERROR" ? red(state) : state;
}

/** A headline and further lines; nothing for what need not be shown. */
function blockText(block: Block, role: Message["role"]): string[] | undefined {
  if (block.type === "action") return [`${bold("$")} ${commandText(block.input) ?? block.name}`];
  if (block.type === "action_result") return resultText(block.state, block.output);
  if (block.type === "text" && role === "assistant") return headAndTail(block.text);
  return undefined;
}

const CommandInput = v.object({ command: v.string() });

function commandText(input: unknown): string | undefined {
  const parsed = v.safeParse(CommandInput, input);
  if (!parsed.success) return undefined;
  const lines = meaningful(parsed.output.command);
  const [first = "", ...rest] = lines;
  return rest.length === 0 ? clip(first) : `${clip(first)} ${dim(`… ${rest.length} more lines`)}`;
}

const CommandOutput = v.object({
  exit_code: v.optional(v.nullable(v.number())),
  output: v.optional(v.string()),
  stdout: v.optional(v.string()),
  stderr: v.optional(v.string()),
});

function resultText(state: string, output: unknown): string[] {
  const parsed = v.safeParse(v.union([v.string(), CommandOutput]), output);
  const result = parsed.success ? parsed.output : {};
  const text =
    typeof result === "string" ? result : [result.output, result.stdout, result.stderr].filter(Boolean).join("\n");
  const code = typeof result === "string" ? undefined : result.exit_code;
  const said = code === undefined || code === null ? state : `exit ${code}`;
  return [state === "completed" ? green(said) : red(said), ...headAndTail(text)];
}

/** The first and last lines of a text. */
function headAndTail(text: string): string[] {
  const lines = meaningful(text).map(clip);
  if (lines.length <= 5) return lines;
  return [...lines.slice(0, 3), `… ${lines.length - 4} more lines`, ...lines.slice(-1)];
}

const meaningful = (text: string): string[] =>
  printable(text)
    .split("\n")
    .filter((line) => line.trim() !== "");

const clip = (line: string): string => (line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line);

/** What comes out of a sandbox must not move the cursor or change the title of the reader's terminal. */
const printable = (text: string): string => text.replaceAll("\t", "  ").replace(/(?!\n)\p{Cc}/gu, "");
