import type { Cursors } from "#shared/pagination/cursor.ts";
import { type PageQuery, paginate } from "#shared/pagination/page.ts";
import type { Conversation, Step } from "#shared/wire/conversation.ts";
import { truncateConversation, truncateSteps } from "./truncate.ts";

/** The steps of a conversation, or of one run of it. */
interface ConversationSteps {
  readonly conversationId: string;
  /** The runs of the steps, oldest first. */
  readonly runs: readonly string[];
  readonly steps: readonly Step[];
}

/**
 * Returns a page of as many steps as one response can hold, oldest first; `list` binds the page's cursors. Long steps are truncated, and
 * if that is not enough, the rest is on the next page: only a single step that is too long by itself loses messages.
 */
export async function toConversationPage(
  list: readonly ["run" | "conversation", string],
  { conversationId, runs, steps }: ConversationSteps,
  query: PageQuery,
  cursors: Cursors,
): Promise<Conversation> {
  const orders = new Map(runs.map((run, index) => [run, index]));
  const placeOf = ({ id }: Step): string => {
    const [run = "", number = ""] = id.split(":");
    return `${padded(orders.get(run) ?? 0)}:${padded(number)}`;
  };
  const options = { binding: ["steps", list], placeOf, cutToFit: truncateSteps };
  const { items, page } = await paginate(steps, query, options, cursors);
  return { ...truncateConversation({ conversation_id: conversationId, steps: items }), ...page };
}

const padded = (number: number | string): string => String(number).padStart(10, "0");
