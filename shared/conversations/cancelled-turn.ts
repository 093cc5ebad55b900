import { type Message, marksCancellation, TURN_CANCELLED } from "#shared/wire/conversation.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

const CANCELLED = "[The run was cancelled here. Do not carry out earlier requests that were not completed by then.]";

/** Creates the message that ends a cancelled turn in the conversation. */
export const cancelMessage = (cancelledAt: number): Message => ({
  role: "system",
  content: [
    { type: "text", text: CANCELLED },
    { type: "event", name: TURN_CANCELLED, data: {} },
  ],
  timestamp: toTimestamp(cancelledAt),
});

/** True if a run was cancelled and then continued with a follow-up. */
export const wasCancelled = (own: readonly Message[]): boolean => own.some(marksCancellation);
