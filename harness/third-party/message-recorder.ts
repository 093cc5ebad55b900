import { randomUUID } from "node:crypto";
import type { Block, Message } from "#shared/wire/conversation.ts";
import type { Category } from "../engine/tool.ts";
import { cutBytes, cutBytesFromEnd, toWellFormed } from "../support/text-limits.ts";

/** Something that an agent does, in the conversation's words. */
export interface ToolActivity {
  readonly category: Category;
  readonly name: string;
  readonly input: unknown;
}

/** Tools of an agent as the conversation names them. */
export type ToolNames = Readonly<Record<string, Omit<ToolActivity, "input">>>;

/**
 * What an agent does with a tool; one that the conversation has no name for keeps its own.
 * @param mcpInput what a tool of an MCP server is asked; undefined for any other
 */
export function toToolActivity(
  names: ToolNames,
  tool: string,
  input: unknown,
  mcpInput: (tool: string, input: unknown) => object | undefined,
): ToolActivity {
  const known = names[tool];
  if (known !== undefined) return { ...known, input };
  const asked = mcpInput(tool, input);
  return asked === undefined
    ? { category: "integration", name: tool, input }
    : { category: "integration", name: "call_mcp_tool", input: asked };
}

/** Puts what an agent of others tells into messages of the conversation, in order. */
export interface MessageRecorder {
  /**
   * Words of the agent. They are told with what it does next; those behind which it does nothing more are its answer, which is
   * told by who ends the turn.
   */
  text(text: string): void;
  /** More of the same words. */
  more(text: string): void;
  /** `id`: the agent's own; unknown ones and repeats are told like any other. */
  action(id: string, doing: ToolActivity): void;
  /** The end of an action that was told of; of another one nothing is told. */
  result(id: string, state: "completed" | "failed" | "denied", output: Readonly<Record<string, unknown>>): void;
  /** What was kept back, which is told nowhere else from then on. */
  takeAnswer(): string;
  /** Says of each action that has no end yet that it was broken off. */
  breakOff(): void;
}

const TEXT_BYTES = 128 * 1024;
const STRING_BYTES = 16 * 1024;
const MEMBERS = 200;
const DEPTH = 8;

export function createMessageRecorder(tell: (message: Message) => void): MessageRecorder {
  const open = new Map<string, { action: string; doing: ToolActivity }>();
  let held = "";

  const takeHeld = (): string => {
    const text = cutBytes(toWellFormed(held), TEXT_BYTES).trim();
    held = "";
    return text;
  };
  const tellResult = (id: string, state: Result["state"], output: unknown) => {
    const found = open.get(id);
    if (found === undefined) return;
    open.delete(id);
    const { category, name } = found.doing;
    const block: Result = { type: "action_result", action_id: found.action, category, name, state, output };
    tell({ role: "tool", content: [block] });
  };
  return {
    text(text) {
      held = held === "" ? text : `${held}\n\n${text}`;
    },
    more(text) {
      held += text;
    },
    action(id, { category, name, input }) {
      const said = takeHeld();
      const action = randomUUID();
      const doing = { category, name: cutBytes(toWellFormed(name), 128) || "unknown", input: truncateValue(input) };
      open.set(id, { action, doing });
      const block: Block = { type: "action", id: action, ...doing };
      tell({ role: "assistant", content: said === "" ? [block] : [{ type: "text", text: said }, block] });
    },
    result(id, state, output) {
      tellResult(id, state, truncateValue(output));
    },
    takeAnswer: takeHeld,
    breakOff() {
      for (const id of [...open.keys()]) tellResult(id, "failed", { interrupted: true });
    },
  };
}

type Result = Extract<Block, { type: "action_result" }>;

/** A value as far as a conversation has room for it: long texts are cut in their middle. */
function truncateValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return truncateText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH) return "[... left out ...]";
  if (Array.isArray(value)) return value.slice(0, MEMBERS).map((item: unknown) => truncateValue(item, depth + 1));
  const members = Object.entries(value).slice(0, MEMBERS);
  return Object.fromEntries(members.map(([name, member]) => [toWellFormed(name), truncateValue(member, depth + 1)]));
}

function truncateText(value: string): string {
  const text = toWellFormed(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= STRING_BYTES) return text;
  const half = STRING_BYTES / 2;
  return `${cutBytes(text, half)}\n[... ${bytes - STRING_BYTES} bytes left out ...]\n${cutBytesFromEnd(text, half)}`;
}
