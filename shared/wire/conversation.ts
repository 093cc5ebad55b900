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
  v.object({
    /** The type of the block. */
    type: v.literal("text"),
    /** The text of the block. */
    text: BlockText,
    /** The id of the message that the block belongs to. */
    message_id: MessageId,
  }),
  v.object({
    type: v.literal("action"),
    /** The action's id. */
    id: Id,
    /** The category of the action. */
    category: Category,
    /** The name of the action or event. */
    name: text(128, 1),
    /** What the action does, for people, such as `Read calc.py`. */
    title: Title,
    /** The action's input. Its shape depends on `name`. */
    input: v.unknown(),
    message_id: MessageId,
  }),
  v.object({
    type: v.literal("action_result"),
    /** The id of the action that produced this result. */
    action_id: Id,
    category: Category,
    name: text(128, 1),
    title: Title,
    /** What came of the action, or why it failed, for people: such as `+1 −1` or `1 match`. */
    summary: v.exactOptional(singleLine(1024)),
    /** The change of files by the action, as a unified diff. The output does not repeat it. */
    diff: v.exactOptional(textOfBytes(65_536, 1)),
    /** The state of the action. */
    state: v.picklist(["running", "completed", "failed", "denied"]),
    /** The action's output. Responses truncate large outputs and say so. */
    output: v.unknown(),
    message_id: MessageId,
  }),
  v.object({
    type: v.literal("event"),
    name: text(128, 1),
    /** The content of the event. Its shape depends on `name`. */
    data: v.unknown(),
    message_id: MessageId,
  }),
]);
export type Block = v.InferOutput<typeof Block>;

/** A message of a conversation. */
export const Message = v.object({
  /** The author of the message. */
  role: v.picklist(["user", "assistant", "tool", "system"]),
  /** The blocks of the message, in order: text, actions, action results and events. */
  content: v.pipe(v.array(Block), v.maxLength(256)),
  /** The ids of the messages that were merged into this one. */
  message_ids: v.exactOptional(v.pipe(v.array(Id), v.maxLength(256))),
  /** The id of the model request that produced the message. */
  request_id: v.exactOptional(Id),
  /** The time of the message. @format date-time */
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
  /** The turn's id. */
  id: v.string(),
  /** The task of the turn. */
  description: v.exactOptional(v.string()),
  /** The result in one or two sentences. */
  summary: v.exactOptional(v.string()),
  /** The start time of the turn. @format date-time */
  started_at: v.exactOptional(v.string()),
  /** The end time. Absent until the turn has ended. @format date-time */
  completed_at: v.exactOptional(v.string()),
  /** The messages, in order. */
  messages: v.array(Message),
  /** The turns of delegated work. */
  steps: v.array(v.lazy(() => Step)),
});

/** The normalized conversation of one or more runs. */
export const Conversation = v.object({
  /** The conversation's id. */
  conversation_id: v.string(),
  /** The turns, oldest first. */
  steps: v.array(Step),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
export type Conversation = v.InferOutput<typeof Conversation>;

/** The conversation of a public session. */
export const SessionRedirect = v.object({
  /** The conversation's id. */
  conversation_id: v.exactOptional(v.string()),
});

/** The latest public session of a conversation. */
export const ConversationRedirect = v.object({
  /** The session's id. */
  session_id: v.exactOptional(v.string()),
});
