import type { Block, Message } from "#shared/wire/conversation.ts";
import type { Category, StepDiff } from "../engine/tool.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { LiveOutput, OpenOutput } from "../reporting/live-output.ts";
import { createSnippetDiff } from "../steps/diff.ts";
import { describeEnd } from "../steps/step-summary.ts";
import { formatTitle } from "../steps/step-title.ts";
import { readText, toMembers } from "../steps/value.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import { cutBytes, cutBytesFromEnd, toWellFormed } from "../support/text-limits.ts";
import type { CommandOutput } from "./command-output.ts";

/** An action of an agent in the terms of the conversation. */
export interface ToolActivity {
  readonly category: Category;
  readonly name: string;
  readonly input: unknown;
}

/** The conversation's names of an agent's tools. */
export type ToolNames = Readonly<Record<string, Omit<ToolActivity, "input">>>;

/**
 * Converts a tool call of an agent. A tool without a name in the conversation keeps its own.
 * @param mcpInput returns the input of a call to an MCP server; undefined for other tools
 */
export function toToolActivity(
  names: ToolNames,
  tool: string,
  input: unknown,
  mcpInput: (tool: string, input: unknown) => object | undefined,
): ToolActivity {
  const known = names[tool];
  if (known !== undefined) return { ...known, input };
  const mcpCall = mcpInput(tool, input);
  return mcpCall === undefined
    ? { category: "integration", name: tool, input }
    : { category: "integration", name: "call_mcp_tool", input: mcpCall };
}

/** Records the output of a third-party agent as messages of the conversation, in order. */
export interface MessageRecorder {
  /** Adds a text of the agent. It is sent with the next action; a text without a following action is the response. */
  text(text: string): void;
  /** Continues the same text. */
  more(text: string): void;
  /** Records the start of an action. Above a limit, the oldest one ends as interrupted. @param id the agent's own id, which may repeat */
  action(id: string, doing: ToolActivity): void;
  /** Shows output of an action that is still open. Other output is ignored. */
  output(id: string, piece: Pick<CommandOutput, "skipped" | "data">): void;
  /** Records the end of an action. Unknown actions are ignored. The diff is computed from the input if there is none. */
  result(
    id: string,
    state: "completed" | "failed" | "denied",
    output: Readonly<Record<string, unknown>>,
    diff?: StepDiff,
  ): void;
  /** Takes the text that was not sent with an action. */
  takeFinalMessage(): string;
  /** Records each open action as interrupted. */
  breakOff(): void;
}

/** The most actions that are open at the same time. */
export const MAX_OPEN_ACTIONS = 64;
const TEXT_BYTES = 128 * 1024;
/** The most of a text that is read, before secrets are redacted. */
const MAX_HELD_CHARACTERS = 4 * TEXT_BYTES;
const STRING_BYTES = 16 * 1024;
const MEMBERS = 200;
const DEPTH = 8;

interface OpenAction {
  readonly action: string;
  readonly doing: ToolActivity;
  readonly title: string;
  shown?: OpenOutput;
}

/** @param redactor redacts before texts are truncated, which could cut a secret in two */
export function createMessageRecorder(
  send: (message: Message) => void,
  redactor: Pick<Redactor, "text" | "json">,
  live: Pick<LiveOutput, "open">,
): MessageRecorder {
  const open = new Map<string, OpenAction>();
  let held = "";

  const takeHeld = (): string => {
    const text = cutBytes(toWellFormed(redactor.text(held)), TEXT_BYTES).trim();
    held = "";
    return text;
  };
  const sendResult = (id: string, state: "completed" | "failed" | "denied", given: object, known?: StepDiff) => {
    const found = open.get(id);
    if (found === undefined) return;
    open.delete(id);
    found.shown?.end();
    const { category, name, input } = found.doing;
    const output = truncateValue(redactor.json(given));
    const diff = state === "completed" ? cleanDiff(known ?? diffOfInput(name, input), redactor) : undefined;
    const summary = describeEnd(name, state, output, diff);
    const kind = { category, name, title: found.title };
    const block: Result = { type: "action_result", action_id: found.action, ...kind, ...summary, state, output };
    send({ role: "tool", content: [block] });
  };
  const interrupt = (id: string) => sendResult(id, "failed", { interrupted: true });
  return {
    text(text) {
      held = held === "" ? text : `${held}\n\n${text}`;
    },
    more(text) {
      if (held.length < MAX_HELD_CHARACTERS) held += text;
    },
    action(id, { category, name, input }) {
      const heldText = takeHeld();
      const action = randomUUID();
      const clean = redactor.json(input);
      const doing = { category, name: cutBytes(toWellFormed(name), 128) || "unknown", input: truncateValue(clean) };
      const title = formatTitle(doing.name, clean);
      open.set(id, { action, doing, title });
      const block: Block = { type: "action", id: action, ...doing, title };
      send({ role: "assistant", content: heldText === "" ? [block] : [{ type: "text", text: heldText }, block] });
      const [oldest = ""] = open.keys();
      if (open.size > MAX_OPEN_ACTIONS) interrupt(oldest);
    },
    output(id, { skipped, data }) {
      const found = open.get(id);
      if (found === undefined) return;
      found.shown ??= live.open(found.action);
      if (skipped > 0) found.shown.skip(skipped);
      found.shown.push(data);
    },
    result: sendResult,
    takeFinalMessage: takeHeld,
    breakOff() {
      for (const id of [...open.keys()]) interrupt(id);
    },
  };
}

/** The change of an edit whose input has both texts. Where it is in the file is not known. */
function diffOfInput(name: string, input: unknown): StepDiff | undefined {
  if (name !== "edit_files") return undefined;
  const edit = toMembers(input);
  const [before, after] = [edit["old_string"] ?? edit["oldString"], edit["new_string"] ?? edit["newString"]];
  if (typeof before !== "string" || typeof after !== "string") return undefined;
  return createSnippetDiff(readText(edit, "file_path", "path", "filePath") ?? "", before, after);
}

const cleanDiff = (diff: StepDiff | undefined, { text }: Pick<Redactor, "text">): StepDiff | undefined =>
  diff === undefined ? undefined : { ...diff, text: text(diff.text) };

type Result = Extract<Block, { type: "action_result" }>;

/** Truncates a value for the conversation: long texts lose their middle. */
function truncateValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return truncateText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH) return "[... omitted ...]";
  if (Array.isArray(value)) return value.slice(0, MEMBERS).map((item: unknown) => truncateValue(item, depth + 1));
  const members = Object.entries(value).slice(0, MEMBERS);
  return Object.fromEntries(members.map(([name, member]) => [toWellFormed(name), truncateValue(member, depth + 1)]));
}

function truncateText(value: string): string {
  const text = toWellFormed(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= STRING_BYTES) return text;
  const half = STRING_BYTES / 2;
  return `${cutBytes(text, half)}\n[... ${bytes - STRING_BYTES} bytes omitted ...]\n${cutBytesFromEnd(text, half)}`;
}
