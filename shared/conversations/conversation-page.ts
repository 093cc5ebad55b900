import type { Cursors } from "#shared/pagination/cursor.ts";
import { type PageQuery, pageOf } from "#shared/pagination/page.ts";
import type { Conversation, Step } from "#shared/wire/conversation.ts";
import { fitted, truncateSteps } from "./truncate.ts";

/** A conversation, or one run's part of it, as it is read. */
interface Told {
  readonly conversationId: string;
  /** Whose steps they are, oldest first. */
  readonly runs: readonly string[];
  readonly steps: readonly Step[];
}

/**
 * As many steps as one answer takes, oldest first; `list` is what its cursors are good for. What does not fit is cut short,
 * and where that is not enough, the next page has it: nothing is left out but within a single step that is too long by itself.
 */
export async function conversationPage(
  list: readonly ["run" | "conversation", string],
  { conversationId, runs, steps }: Told,
  query: PageQuery,
  cursors: Cursors,
): Promise<Conversation> {
  const orders = new Map(runs.map((run, index) => [run, index]));
  const placeOf = ({ id }: Step): string => {
    const [run = "", number = ""] = id.split(":");
    return `${padded(orders.get(run) ?? 0)}:${padded(number)}`;
  };
  const options = { binding: ["steps", list], placeOf, cutToFit: truncateSteps };
  const { items, page } = await pageOf(steps, query, options, cursors);
  return { ...fitted({ conversation_id: conversationId, steps: items }), ...page };
}

const padded = (number: number | string): string => String(number).padStart(10, "0");
