import { Message, TextBlock, ToolResultBlock, ToolUseBlock } from "@strands-agents/sdk";
import { type Block, OPENING, type Message as Said } from "#shared/wire/conversation.ts";
import type { AgentWork } from "../engine/agent-context.ts";
import type { Turn } from "../engine/engine.ts";

type Opened = Pick<AgentWork, "opening"> & {
  readonly context: Pick<AgentWork["context"], "messages" | "own_messages">;
};

type Result = Extract<Block, { type: "action_result" }>;

/** The instruction of a run that continues a conversation without a prompt. */
const GO_ON = "Continue where you stopped.";

/** The result of a tool whose execution ended before the tool did. */
const INTERRUPTED = { error: "interrupted with an unknown result: check the state before you retry" };

/**
 * Builds the conversation for the model: all recorded messages, with the run's first instructions in their place. It is rebuilt for each
 * turn, so it does not depend on which execution did what.
 */
export function buildHistory({ instructions, conversation }: Turn, { opening, context }: Opened): Message[] {
  const openingAt = Math.max(0, context.messages.length - (context.own_messages ?? 0));
  const instructionAt = conversation.findLastIndex(isInstruction);
  const isFollowup = instructionAt >= openingAt;
  // A long follow-up is truncated in the recorded conversation; use the full text.
  const recorded = conversation.map((said, index) =>
    isFollowup && index === instructionAt ? toUserMessage(instructions) : said,
  );
  const results = indexResults(recorded);
  const before = recorded.slice(0, openingAt).flatMap((said) => toMessages(said, results));
  const after = recorded.slice(openingAt).flatMap((said) => toMessages(said, results));
  // A cancelled first instruction is one of the messages.
  const hasOpening = recorded[openingAt]?.message_ids?.includes(OPENING) === true;
  const first = opening.length > 0 || !hasOpening ? [toPinnedMessage(opening.length > 0 ? opening : [GO_ON])] : [];
  return startWithUser([...before, ...first, ...after]);
}

/** Excludes a message from every summary of the conversation. */
function pin(message: Message): Message {
  const { role, content, trackingId, metadata } = message;
  const custom = { ...metadata?.custom, pinned: true };
  return new Message({ role, content, trackingId, metadata: { ...metadata, custom } });
}

const isInstruction = ({ role, content }: Said): boolean =>
  role === "user" && content.some(({ type }) => type === "text");

const toUserMessage = (texts: readonly string[]): Said => ({
  role: "user",
  content: [{ type: "text", text: texts.join("\n\n") }],
});

const toPinnedMessage = (texts: readonly string[]): Message =>
  pin(new Message({ role: "user", content: texts.map((text) => new TextBlock(text)) }));

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
  if (role !== "assistant")
    return texts.length === 0 ? [] : [pinIf(role === "user", new Message({ role: "user", content: texts }))];
  const actions = content.filter((block) => block.type === "action");
  const uses = actions.map(
    ({ id, name, input }) => new ToolUseBlock({ toolUseId: id, name, input: toJsonObject(input) }),
  );
  if (texts.length + uses.length === 0) return [];
  const said = new Message({ role: "assistant", content: [...texts, ...uses] });
  if (actions.length === 0) return [said];
  const responses = actions.map(({ id }) => toResultBlock(id, results.get(id)));
  return [said, new Message({ role: "user", content: responses })];
}

const pinIf = (isPinned: boolean, message: Message): Message => (isPinned ? pin(message) : message);

function toResultBlock(id: string, result: Result | undefined): ToolResultBlock {
  const output = result === undefined || result.state === "running" ? INTERRUPTED : result.output;
  return new ToolResultBlock({
    toolUseId: id,
    status: result?.state === "completed" ? "success" : "error",
    content: [new TextBlock(JSON.stringify(output ?? null))],
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
