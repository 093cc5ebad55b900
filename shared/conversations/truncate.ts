import type { Block, Conversation, Message, Step } from "#shared/wire/conversation.ts";

/** Bytes of a tool's output that a conversation shows. */
const OUTPUT_BYTES = 16 * 1024;
/** Bytes of the messages of one answer, and how many of them are kept for messages that are cut short. */
const ANSWER_BYTES = 4 * 1024 * 1024 - 64 * 1024;
const SHORT_BYTES = 512 * 1024;
/** Bytes of a single text that is an answer's main part. */
const TEXT_BYTES = 256 * 1024;
/** Bytes that are left of anything in a message that is cut short. */
const LITTLE_BYTES = 256;
const SHORT_BLOCKS = 8;

/**
 * A conversation that fits into an answer: outputs are cut, then, from the oldest on, whole messages, and at last the
 * oldest are left out. What is cut or left out says that the transcript has it.
 */
export function fitted({ conversation_id, steps }: Pick<Conversation, "conversation_id" | "steps">): Conversation {
  const room = new Room(ANSWER_BYTES);
  const kept: Step[] = [];
  for (const step of steps.toReversed()) {
    if (!room.take({ ...step, messages: [] })) break;
    const messages = keepLatest(step.messages, room);
    if (messages.length > 0) kept.unshift({ ...step, messages });
  }
  const leftOut = count(steps) - count(kept);
  return { conversation_id, steps: leftOut === 0 ? kept : [note(conversation_id, leftOut), ...kept] };
}

/** The first steps of which an answer has room for every message, whole or cut short; one at least. */
export function truncateSteps(steps: readonly Step[]): Step[] {
  let whole = 0;
  let short = 0;
  const end = steps.findIndex(({ messages, ...step }, index) => {
    const frame = bytesOf({ ...step, messages: [] });
    whole += messages.reduce((sum, message) => sum + bytesOf(withCutOutputs(message)), frame);
    short += messages.reduce((sum, message) => sum + bytesOf(shortened(message)), frame);
    return index > 0 && whole > ANSWER_BYTES - SHORT_BYTES && short > SHORT_BYTES;
  });
  return steps.slice(0, end < 0 ? steps.length : end);
}

/** The latest of the messages, as far as they fit into an answer; what the user said last is always among them. */
export function truncateMessages(messages: readonly Message[]): Message[] {
  const room = new Room(ANSWER_BYTES);
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const last = messages[asked];
  if (last === undefined || !room.take(last)) return keepLatest(messages, room);
  const after = keepLatest(messages.slice(asked + 1), room);
  return [...keepLatest(messages.slice(0, asked), room), last, ...after];
}

/** A text that fits into an answer with much else, even where each of its characters is escaped. */
export const truncateText = (text: string): string => cutText(text, TEXT_BYTES);

/** What is left of an answer. IdempotentRequest something did not go in, nothing older does: a conversation has no holes. */
class Room {
  left: number;
  constructor(bytes: number) {
    this.left = bytes;
  }
  take(value: unknown, spare = 0): boolean {
    const bytes = bytesOf(value);
    if (this.left - bytes < spare) return false;
    this.left -= bytes;
    return true;
  }
  close(): void {
    this.left = 0;
  }
}

function keepLatest(messages: readonly Message[], room: Room): Message[] {
  const kept: Message[] = [];
  for (const message of messages.toReversed()) {
    const whole = withCutOutputs(message);
    const shown = room.take(whole, SHORT_BYTES) ? whole : shortened(message);
    if (shown !== whole && !room.take(shown)) {
      room.close();
      break;
    }
    kept.unshift(shown);
  }
  return kept;
}

const count = (steps: readonly Step[]): number => steps.reduce((sum, { messages }) => sum + messages.length, 0);

function note(conversationId: string, leftOut: number): Step {
  const text = `[${leftOut} earlier messages are left out here; the transcript has them]`;
  return {
    id: `${conversationId}:left-out`,
    messages: [{ role: "system", content: [{ type: "text", text }] }],
    steps: [],
  };
}

/** What a value takes of an answer, with the comma behind it. */
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1;

const withCutOutputs = (message: Message): Message => ({ ...message, content: message.content.map(cutOutput) });

function cutOutput(block: Block): Block {
  return block.type === "action_result" ? { ...block, output: cutValue(block.output, OUTPUT_BYTES) } : block;
}

function shortened(message: Message): Message {
  const { content } = message;
  const left = content.length - SHORT_BLOCKS;
  const more: Block[] = left > 0 ? [{ type: "text", text: `[${left} more parts; the transcript has them]` }] : [];
  return { ...message, content: [...content.slice(0, SHORT_BLOCKS).map(shortBlock), ...more] };
}

function shortBlock(block: Block): Block {
  if (block.type === "text") return { ...block, text: cutText(block.text, LITTLE_BYTES) };
  if (block.type === "action") return { ...block, input: cutValue(block.input, LITTLE_BYTES) };
  if (block.type === "action_result") return { ...block, output: cutValue(block.output, LITTLE_BYTES) };
  return { ...block, data: cutValue(block.data, LITTLE_BYTES) };
}

/** A value of at most about `limit` bytes as JSON: its texts are cut first, and where that is not enough, it becomes one. */
function cutValue(value: unknown, limit: number): unknown {
  if (typeof value === "string") return cutText(value, limit);
  const text = JSON.stringify(value) ?? "null";
  if (Buffer.byteLength(text) <= limit) return value;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    const texts = entries.filter(([, entry]) => typeof entry === "string").length;
    const each = Math.floor(limit / Math.max(1, texts));
    const cut = Object.fromEntries(
      entries.map(([name, entry]) => [name, typeof entry === "string" ? cutText(entry, each) : entry]),
    );
    if (Buffer.byteLength(JSON.stringify(cut)) <= 2 * limit) return cut;
  }
  return cutText(text, limit);
}

function cutText(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  let end = limit;
  // A character is not cut in half: its further bytes begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString()}\n[cut here; the transcript has the whole]`;
}
