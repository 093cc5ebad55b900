import { Message, TextBlock, ToolResultBlock, ToolUseBlock } from "@strands-agents/sdk";
import { type Block, OPENING, type Message as Said } from "#shared/wire/conversation.ts";
import type { AgentWork } from "../engine/agent-context.ts";
import type { Turn } from "../engine/engine.ts";

type Opened = Pick<AgentWork, "opening"> & {
  readonly context: Pick<AgentWork["context"], "messages" | "own_messages">;
};

type Result = Extract<Block, { type: "action_result" }>;

/** What a run is asked that continues a conversation without a word of its own. */
const GO_ON = "Go on from where you stopped.";

/** Stands for the result of a tool whose execution ended before the tool did. */
const INTERRUPTED = { error: "this was interrupted, and nobody knows how far it came: look before you do it again" };

/**
 * What the model is shown of the conversation: all that was recorded, with what the run was asked in its place. It is made anew
 * for each turn, so that it does not matter which execution did what.
 */
export function buildHistory({ instructions, conversation }: Turn, { opening, context }: Opened): Message[] {
  const openingAt = Math.max(0, context.messages.length - (context.own_messages ?? 0));
  const asked = conversation.findLastIndex(isAsked);
  const isFollowup = asked >= openingAt;
  // A long follow-up is cut where it is recorded, and whole only here.
  const told = conversation.map((said, index) => (isFollowup && index === asked ? toUserMessage(instructions) : said));
  const results = indexResults(told);
  const before = told.slice(0, openingAt).flatMap((said) => toMessages(said, results));
  const after = told.slice(openingAt).flatMap((said) => toMessages(said, results));
  // What was asked and then cancelled is among the messages.
  const isTold = told[openingAt]?.message_ids?.includes(OPENING) === true;
  const asking = opening.length > 0 || !isTold ? [toPinnedMessage(opening.length > 0 ? opening : [GO_ON])] : [];
  return startWithUser([...before, ...asking, ...after]);
}

/** Keeps a message out of every summary of the conversation. */
function pin(message: Message): Message {
  const { role, content, trackingId, metadata } = message;
  const custom = { ...metadata?.custom, pinned: true };
  return new Message({ role, content, trackingId, metadata: { ...metadata, custom } });
}

const isAsked = ({ role, content }: Said): boolean => role === "user" && content.some(({ type }) => type === "text");

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

/** A message, and behind it the results of what it asks for; results are not shown where they stand by themselves. */
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
  const answers = actions.map(({ id }) => toResultBlock(id, results.get(id)));
  return [said, new Message({ role: "user", content: answers })];
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

/** No API takes a conversation that the model begins. */
function startWithUser(messages: Message[]): Message[] {
  if (messages[0]?.role === "user") return messages;
  return [
    new Message({ role: "user", content: [new TextBlock("[What was asked before is not shown.]")] }),
    ...messages,
  ];
}

/** An input that is an object, as models send it. */
function toJsonObject(input: unknown): Record<string, never> {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? JSON.parse(JSON.stringify(input)) : {};
}
