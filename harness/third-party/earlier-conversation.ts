import { type Message, OPENING } from "#shared/wire/conversation.ts";
import type { AgentWork } from "../engine/agent-context.ts";
import type { Turn } from "../engine/engine.ts";
import { cutBytesFromEnd } from "../support/text-limits.ts";

/** The most of a conversation that is passed to an agent without a session. */
const HISTORY_BYTES = 64 * 1024;

/** What an agent gets that was interrupted. */
export const GO_ON =
  "You were interrupted while you worked on this. Check what is done already, and continue where you stopped.";

/** What an agent gets whose session has instructions that were cancelled. */
export const CANCELLED =
  "The earlier instructions that you have not answered were cancelled. Do not continue with them; only do what is asked now.";

type Opened = Pick<AgentWork, "opening"> & {
  readonly context: Pick<AgentWork["context"], "messages" | "own_messages">;
};

/** The conversation before the turn's own instructions, with the run's first ones in their place. */
export function listEarlier({ instructions, conversation }: Turn, run: Opened): readonly Message[] {
  // The current instructions may be the last message already.
  const earlier = conversation.at(-1)?.role === "user" ? conversation.slice(0, -1) : conversation;
  if (earlier.length === 0) return earlier;
  return instructions.join("\n\n") === run.opening.join("\n\n") ? earlier : addOpening(earlier, run);
}

/** Whether an earlier execution started with these instructions. */
export const isBegun = (conversation: readonly Message[]): boolean =>
  conversation.at(-1)?.content.some(({ type }) => type === "action" || type === "action_result") ?? false;

/** Adds the run's first instructions before its own messages, unless they are one of them. */
function addOpening(messages: readonly Message[], { context, opening }: Opened): readonly Message[] {
  const openingAt = Math.max(0, context.messages.length - (context.own_messages ?? 0));
  const own = messages.slice(openingAt);
  if (opening.length === 0 || own.some(({ message_ids }) => message_ids?.includes(OPENING))) return messages;
  const first: Message = { role: "user", content: opening.map((text) => ({ type: "text", text })) };
  return [...messages.slice(0, openingAt), first, ...own];
}

/** Formats the earlier conversation for an agent without a session. */
export function formatHistory(messages: readonly Message[]): string {
  const lines = messages.flatMap(({ role, content }) =>
    content.flatMap((block) => {
      if (block.type === "text") return [`${role}: ${block.text}`];
      return block.type === "action" ? [`${role} did: ${block.name} ${JSON.stringify(block.input)}`] : [];
    }),
  );
  const text = cutBytesFromEnd(lines.join("\n\n"), HISTORY_BYTES);
  return `This conversation started without you. The messages and actions so far:\n\n<conversation>\n${text}\n</conversation>`;
}
