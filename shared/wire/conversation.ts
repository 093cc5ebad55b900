import * as v from "valibot";
import { PageInfo } from "./list.ts";
import { Id, Timestamp, text, textOfBytes } from "./primitives.ts";

const BlockText = textOfBytes(262_144);
const MessageId = v.exactOptional(Id);

/** One line for people. Control characters and line breaks are refused, because terminals and logs show it as it is. */
const singleLine = (limit: number) =>
  v.pipe(
    text(limit, 1),
    v.regex(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: They are what is refused.
      /^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/,
      "must be one line without control characters",
    ),
  );

/** What the action does, for people, such as `Read calc.py`. */
const Title = v.exactOptional(singleLine(512));

const BLOCK_CATEGORIES = [
  "command",
  "files",
  "search",
  "integration",
  "documents",
  "computer",
  "review",
  "skill",
] as const;
const Category = v.picklist(BLOCK_CATEGORIES);

/** A block of a message: text, an action, the result of an action, or an event. */
export const Block = v.variant("type", [
  v.object({ type: v.literal("text"), text: BlockText, message_id: MessageId }),
  v.object({
    type: v.literal("action"),
    id: Id,
    category: Category,
    name: text(128, 1),
    title: Title,
    input: v.unknown(),
    message_id: MessageId,
  }),
  v.object({
    type: v.literal("action_result"),
    action_id: Id,
    category: Category,
    name: text(128, 1),
    title: Title,
    /** What came of the action, or why it failed, for people: such as `+1 −1` or `1 match`. */
    summary: v.exactOptional(singleLine(1024)),
    /** The change of files by the action, as a unified diff. The output does not repeat it. */
    diff: v.exactOptional(textOfBytes(65_536, 1)),
    state: v.picklist(["running", "completed", "failed", "denied"]),
    output: v.unknown(),
    message_id: MessageId,
  }),
  v.object({ type: v.literal("event"), name: text(128, 1), data: v.unknown(), message_id: MessageId }),
]);
export type Block = v.InferOutput<typeof Block>;

/** A message of a conversation. */
export const Message = v.object({
  role: v.picklist(["user", "assistant", "tool", "system"]),
  content: v.pipe(v.array(Block), v.maxLength(256)),
  message_ids: v.exactOptional(v.pipe(v.array(Id), v.maxLength(256))),
  request_id: v.exactOptional(Id),
  timestamp: v.exactOptional(Timestamp),
});
export type Message = v.InferOutput<typeof Message>;

/** The id of a run's first message. */
export const OPENING = "prompt";

/** The name of the event that marks all unanswered messages before it as cancelled. */
export const TURN_CANCELLED = "turn_cancelled";

/** Whether the message marks the unanswered messages before it as cancelled. */
export const marksCancellation = ({ content }: Message): boolean =>
  content.some((block) => block.type === "event" && block.name === TURN_CANCELLED);

/**
 * Whether the message is a text of the role, and not a text next to a tool call. Every turn starts with one of the user and ends with
 * one of the agent.
 */
export const isTextBy = (role: Message["role"], message: Message): boolean =>
  message.role === role &&
  message.content.some((block) => block.type === "text") &&
  !message.content.some((block) => block.type === "action");

/** A turn of a conversation. Delegated work has turns of its own. */
export interface Step {
  id: string;
  description?: string;
  summary?: string;
  started_at?: string;
  completed_at?: string;
  messages: Message[];
  steps: Step[];
}
/** A turn of a conversation. Delegated work has turns of its own. */
export const Step: v.GenericSchema<Step> = v.object({
  id: v.string(),
  description: v.exactOptional(v.string()),
  summary: v.exactOptional(v.string()),
  started_at: v.exactOptional(v.string()),
  completed_at: v.exactOptional(v.string()),
  messages: v.array(Message),
  steps: v.array(v.lazy(() => Step)),
});

/** The normalized conversation of one or more runs. */
export const Conversation = v.object({
  conversation_id: v.string(),
  steps: v.array(Step),
  page_info: v.exactOptional(PageInfo),
});
export type Conversation = v.InferOutput<typeof Conversation>;

/** The conversation of a public session. */
export const SessionRedirect = v.object({ conversation_id: v.exactOptional(v.string()) });

/** The latest public session of a conversation. */
export const ConversationRedirect = v.object({ session_id: v.exactOptional(v.string()) });
