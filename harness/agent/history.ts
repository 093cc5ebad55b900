import { Message, TextBlock, ToolResultBlock, ToolUseBlock } from "@strands-agents/sdk";
import { type Compaction, findCompaction } from "#shared/wire/compaction.ts";
import { type Block, OPENING, type Message as Said } from "#shared/wire/conversation.ts";
import type { AgentWork } from "../engine/agent-context.ts";
import type { Turn } from "../engine/engine.ts";
import { truncate, truncateText } from "../support/truncate.ts";
import { formatResult } from "./result-text.ts";

type Opened = Pick<AgentWork, "opening"> & {
  readonly context: Pick<AgentWork["context"], "messages" | "own_messages">;
};

type Result = Extract<Block, { type: "action_result" }>;

/** The instruction of a run that continues a conversation without a prompt. */
const GO_ON = "Continue where you stopped.";

/** The result of a tool whose execution ended before the tool did. */
const INTERRUPTED = { error: "interrupted with an unknown result: check the state before you retry" };

/**
 * Builds the conversation for the model: all recorded messages, with the run's first instructions in their place, and the latest summary
 * instead of the messages of the agent that it covers. It is rebuilt for each turn, so it does not depend on which execution did what.
 */
export function buildHistory({ instructions, conversation }: Turn, { opening, context }: Opened): Message[] {
  const openingAt = Math.max(0, context.messages.length - (context.own_messages ?? 0));
  const instructionAt = conversation.findLastIndex(isInstruction);
  const isFollowup = instructionAt >= openingAt;
  // A long follow-up is truncated in the recorded conversation; use the full text.
  const recorded = conversation.map((said, index) =>
    isFollowup && index === instructionAt ? toUserMessage(instructions) : said,
  );
  // A cancelled first instruction is one of the messages.
  const hasOpening = recorded[openingAt]?.message_ids?.includes(OPENING) === true;
  const first = opening.length > 0 || !hasOpening ? [toOpening(opening.length > 0 ? opening : [GO_ON])] : [];
  const compaction = findCompaction(recorded);
  const from = compaction?.from ?? 0;
  const visibleMessages = recorded.map((said, index) =>
    index === instructionAt ? said : shortenKept(said, index, compaction),
  );
  const results = indexResults(visibleMessages);
  const messages: Message[] = [];
  for (let index = 0; index <= visibleMessages.length; index++) {
    if (index === compaction?.from) messages.push(toSummaryMessage(compaction));
    if (index === openingAt) messages.push(...first);
    const message = visibleMessages[index];
    if (message !== undefined && (index >= from || message.role === "user"))
      messages.push(...toMessages(message, results));
  }
  return startWithUser(messages);
}

function toSummaryMessage({ summary, todo, files, skills = [] }: Compaction): Message {
  const toList = (names: readonly string[]) => names.map((name) => `- ${name}`).join("\n");
  const parts = [
    "[What you did before is summarized here. The requests of the user are kept.]",
    summary,
    ...(todo === undefined ? [] : [`Your to-do list:\n${todo}`]),
    ...(files.length === 0 ? [] : [`Files that you changed:\n${toList(files)}`]),
    ...(skills.length === 0
      ? []
      : [`Skills that you read, whose text is gone. Read one again before you go on with it:\n${toList(skills)}`]),
  ];
  return new Message({ role: "user", content: [new TextBlock(parts.join("\n\n"))] });
}

/** The requests of the user are longer than other parts of the conversation, by this factor. */
const REQUEST_FACTOR = 4;

/** Shortens what precedes a summary, where even the latest messages do not fit into the context window. */
function shortenKept(said: Said, index: number, compaction: ReturnType<typeof findCompaction>): Said {
  const bytes = compaction?.tool_bytes;
  if (compaction === undefined || bytes === undefined || index >= compaction.at) return said;
  const content = said.content.map((block): Block => {
    if (block.type === "action") return { ...block, input: truncate(block.input, bytes) };
    if (block.type === "action_result") return { ...block, output: truncate(block.output, bytes) };
    return block.type === "text" ? { ...block, text: truncateText(block.text, bytes * REQUEST_FACTOR) } : block;
  });
  return { ...said, content };
}

const isInstruction = ({ role, content }: Said): boolean =>
  role === "user" && content.some(({ type }) => type === "text");

/** The recorded messages of the turn so far. */
export const listTurn = ({ conversation }: Turn): readonly Said[] =>
  conversation.slice(conversation.findLastIndex(isInstruction) + 1);

const toUserMessage = (texts: readonly string[]): Said => ({
  role: "user",
  content: [{ type: "text", text: texts.join("\n\n") }],
});

const toOpening = (texts: readonly string[]): Message =>
  new Message({ role: "user", content: texts.map((text) => new TextBlock(text)) });

function indexResults(conversation: readonly Said[]): Map<string, Result> {
  const results = conversation.flatMap(({ content }) => content).filter((block) => block.type === "action_result");
  return new Map(results.map((result) => [result.action_id, result]));
}

/** Converts a message and appends the results of its tool calls. Results without a call are omitted. */
function toMessages({ role, content }: Said, results: ReadonlyMap<string, Result>): Message[] {
  if (role === "tool") return [];
  const texts = content.flatMap((block) =>
    block.type === "text" && block.text.trim() !== "" ? [new TextBlock(block.text)] : [],
  );
  if (role !== "assistant") return texts.length === 0 ? [] : [new Message({ role: "user", content: texts })];
  const actions = content.filter((block) => block.type === "action");
  const uses = actions.map(
    ({ id, name, input }) => new ToolUseBlock({ toolUseId: id, name, input: toJsonObject(input) }),
  );
  if (texts.length + uses.length === 0) return [];
  const assistant = new Message({ role: "assistant", content: [...texts, ...uses] });
  if (actions.length === 0) return [assistant];
  const responses = actions.map(({ id }) => toResultBlock(id, results.get(id)));
  return [assistant, new Message({ role: "user", content: responses })];
}

function toResultBlock(id: string, result: Result | undefined): ToolResultBlock {
  const output = result === undefined || result.state === "running" ? INTERRUPTED : result.output;
  return new ToolResultBlock({
    toolUseId: id,
    status: result?.state === "completed" ? "success" : "error",
    content: [new TextBlock(formatResult(output))],
  });
}

/** Adds a user message if the model's comes first, which no API accepts. */
function startWithUser(messages: Message[]): Message[] {
  if (messages[0]?.role === "user") return messages;
  return [
    new Message({ role: "user", content: [new TextBlock("[The earlier instructions are not shown.]")] }),
    ...messages,
  ];
}

/** Returns an input that is an object, as models send it. */
function toJsonObject(input: unknown): Record<string, never> {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? JSON.parse(JSON.stringify(input)) : {};
}
