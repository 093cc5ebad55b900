import { findCompaction } from "#shared/wire/compaction.ts";
import type { Block, Conversation, Message, Step } from "#shared/wire/conversation.ts";

/** Bytes of a tool's output in a conversation. */
const OUTPUT_BYTES = 16 * 1024;
/** Bytes of a tool's output that later turns get. A harness keeps no more, so that they get what the model saw. */
const MODEL_OUTPUT_BYTES = 64 * 1024;
/** A text of at most this many bytes next to an output, such as the path of a file, is neither counted nor cut. */
const MEMBER_BYTES = 512;
/** Bytes of the messages of one response, and the part of them that is reserved for truncated messages. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024 - 64 * 1024;
const SHORT_BYTES = 512 * 1024;
/** Bytes of a single text that is the main part of a response. */
const TEXT_BYTES = 256 * 1024;
/** Bytes that each part of a truncated message keeps. */
const LITTLE_BYTES = 256;
const SHORT_BLOCKS = 8;

/**
 * Truncates a conversation to the size of a response: first outputs, then, from the oldest on, whole messages, and at last it omits the
 * oldest ones. Truncated and omitted parts refer to the transcript.
 */
export function truncateConversation({
  conversation_id,
  steps,
}: Pick<Conversation, "conversation_id" | "steps">): Conversation {
  const room = new Room(MAX_RESPONSE_BYTES);
  const latestSteps: Step[] = [];
  for (const step of steps.toReversed()) {
    if (!room.take({ ...step, messages: [] })) break;
    const messages = keepLatest(step.messages, room);
    if (messages.length > 0) latestSteps.unshift({ ...step, messages });
  }
  const leftOut = countMessages(steps) - countMessages(latestSteps);
  return { conversation_id, steps: leftOut === 0 ? latestSteps : [note(conversation_id, leftOut), ...latestSteps] };
}

/** Returns the first steps whose messages all fit into a response, in full or truncated; at least one. */
export function truncateSteps(steps: readonly Step[]): Step[] {
  let whole = 0;
  let short = 0;
  const end = steps.findIndex(({ messages, ...step }, index) => {
    const frame = countBytes({ ...step, messages: [] });
    whole += messages.reduce((sum, message) => sum + countBytes(withCutOutputs(message)), frame);
    short += messages.reduce((sum, message) => sum + countBytes(shorten(message)), frame);
    return index > 0 && whole > MAX_RESPONSE_BYTES - SHORT_BYTES && short > SHORT_BYTES;
  });
  return steps.slice(0, end === -1 ? steps.length : end);
}

/**
 * Returns the latest messages that fit into a response, always with the last one of the user. Of those that the model has a summary of,
 * only the user's are kept whole.
 */
export function truncateMessages(conversation: readonly Message[]): Message[] {
  const room = new Room(MAX_RESPONSE_BYTES);
  const { from = 0, at = -1 } = findCompaction(conversation) ?? {};
  const summary = conversation[at];
  const messages = conversation.map((message, index) =>
    index < from && message.role !== "user" ? shorten(message) : message,
  );
  const lastInstruction = messages.findLastIndex(({ role }) => role === "user");
  const last = messages[lastInstruction];
  const keep = (part: readonly Message[]) => keepLatest(part, room, { outputBytes: MODEL_OUTPUT_BYTES, summary });
  if (last === undefined || !room.take(last)) return keep(messages);
  const after = keep(messages.slice(lastInstruction + 1));
  return [...keep(messages.slice(0, lastInstruction)), last, ...after];
}

/** Truncates a text so that it fits into a response with other content, even if each of its characters is escaped. */
export const truncateText = (text: string): string => cutText(text, TEXT_BYTES);

/** The space that is left in a response. Once a message does not fit, no older one is added: a conversation has no gaps. */
class Room {
  left: number;
  constructor(bytes: number) {
    this.left = bytes;
  }
  take(value: unknown, spare = 0): boolean {
    const bytes = countBytes(value);
    if (this.left - bytes < spare) return false;
    this.left -= bytes;
    return true;
  }
  close(): void {
    this.left = 0;
  }
}

interface KeepOptions {
  readonly outputBytes: number;
  /** A message that is not shortened: what comes before it is worth nothing to the model without it. */
  readonly summary?: Message | undefined;
}

function keepLatest(
  messages: readonly Message[],
  room: Room,
  { outputBytes, summary }: KeepOptions = { outputBytes: OUTPUT_BYTES },
): Message[] {
  const latest: Message[] = [];
  for (const message of messages.toReversed()) {
    const whole = withCutOutputs(message, outputBytes);
    const fitting = room.take(whole, message === summary ? 0 : SHORT_BYTES) ? whole : shorten(message);
    if (fitting !== whole && !room.take(fitting)) {
      room.close();
      break;
    }
    latest.unshift(fitting);
  }
  return latest;
}

const countMessages = (steps: readonly Step[]): number => steps.reduce((sum, { messages }) => sum + messages.length, 0);

function note(conversationId: string, leftOut: number): Step {
  const text = `[${leftOut} earlier messages are left out here; the transcript has them]`;
  return {
    id: `${conversationId}:left-out`,
    messages: [{ role: "system", content: [{ type: "text", text }] }],
    steps: [],
  };
}

/** The bytes of a value in a response, with the comma after it. */
const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1;

const withCutOutputs = (message: Message, outputBytes = OUTPUT_BYTES): Message => ({
  ...message,
  content: message.content.map((block) => cutOutput(block, outputBytes)),
});

function cutOutput(block: Block, bytes: number): Block {
  if (block.type !== "action_result") return block;
  const diff = block.diff === undefined ? {} : { diff: cutText(block.diff, bytes) };
  return { ...block, ...diff, output: cutValue(block.output, bytes) };
}

function shorten(message: Message): Message {
  const { content } = message;
  const omittedBlocks = content.length - SHORT_BLOCKS;
  const more: Block[] =
    omittedBlocks > 0 ? [{ type: "text", text: `[${omittedBlocks} more parts; the transcript has them]` }] : [];
  return { ...message, content: [...content.slice(0, SHORT_BLOCKS).map(shortBlock), ...more] };
}

function shortBlock(block: Block): Block {
  if (block.type === "text") return { ...block, text: cutText(block.text, LITTLE_BYTES) };
  if (block.type === "action") return { ...block, input: cutValue(block.input, LITTLE_BYTES) };
  if (block.type === "action_result") {
    const { diff: _, ...result } = block;
    return { ...result, output: cutValue(block.output, LITTLE_BYTES) };
  }
  return { ...block, data: cutValue(block.data, LITTLE_BYTES) };
}

/** Truncates a value to about `limit` bytes of JSON: first the texts in it; if that is not enough, the value becomes a text. */
function cutValue(value: unknown, limit: number): unknown {
  if (typeof value === "string") return cutText(value, limit);
  const text = JSON.stringify(value) ?? "null";
  if (Buffer.byteLength(text) <= limit) return value;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    const long = entries.flatMap(([, entry]) =>
      typeof entry === "string" && Buffer.byteLength(entry) > MEMBER_BYTES ? [Buffer.byteLength(entry)] : [],
    );
    const isShort = long.reduce((sum, bytes) => sum + bytes, 0) <= limit;
    const each = isShort ? limit : Math.floor(limit / long.length);
    const cut = Object.fromEntries(
      entries.map(([name, entry]) => [name, typeof entry === "string" ? cutText(entry, each) : entry]),
    );
    const bytes = Object.entries(cut).reduce((sum, [name, entry]) => sum + name.length + countOutputBytes(entry), 0);
    if (bytes <= 2 * limit) return cut;
  }
  return cutText(text, limit);
}

/** As JSON, except for a text, since its line breaks have two bytes there. */
const countOutputBytes = (entry: unknown): number =>
  typeof entry === "string" ? Buffer.byteLength(entry) : countBytes(entry ?? null);

function cutText(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  let end = limit;
  // Do not split a character: its continuation bytes begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString()}\n[cut here; the transcript has the whole]`;
}
