import { loadCheckpoint, putCheckpoint } from "#shared/records/checkpoint.ts";
import type { EndedHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Put, Value } from "#shared/table/table.ts";
import { type Message, marksCancellation, TURN_CANCELLED } from "#shared/wire/conversation.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/** The writes with a follow-up by which a cancelled instruction stays in the conversation and is not carried out again. */
export interface SettledCancel {
  readonly messages: Readonly<Record<string, Value>>;
  readonly set: Readonly<Record<string, Value>>;
  readonly checkpoint: Put;
}

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

/**
 * Ends the cancelled turn of a run. The checkpoint moves after the message about it, so that a later loss of an execution never returns
 * to a point before the cancellation.
 */
export async function settleCancelledTurn(head: EndedHead, ports: Pick<RunPorts, "table">): Promise<SettledCancel> {
  const text = JSON.stringify([cancelMessage(head.ended_at)]);
  const bytes = Buffer.byteLength(text);
  const number = head.messages + 1;
  const checkpoint = await loadCheckpoint(head, ports);
  return {
    messages: { first: number, count: 1, bytes, messages: text },
    set: {
      messages: number,
      message_bytes: head.message_bytes + bytes,
      followups_cancelled: head.followups,
      checkpoint: true,
    },
    checkpoint: putCheckpoint(head.run_id, { ...checkpoint, messages: number, followups: head.followups_stored }),
  };
}

/** True if a run was cancelled and then continued with a follow-up. */
export const wasCancelled = (own: readonly Message[]): boolean => own.some(marksCancellation);
