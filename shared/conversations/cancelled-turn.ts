import { checkpointOf, putCheckpoint } from "#shared/records/checkpoint.ts";
import type { EndedHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import type { Put, Value } from "#shared/table/table.ts";
import { type Message, TURN_CANCELLED, tellsOfCancel } from "#shared/wire/conversation.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/** What is written with a follow-up so that the cancelled instruction before it stays in the conversation and is not repeated. */
export interface SettledCancel {
  readonly messages: Readonly<Record<string, Value>>;
  readonly set: Readonly<Record<string, Value>>;
  readonly checkpoint: Put;
}

const CANCELLED =
  "[The run was cancelled here. What was asked before and not answered by then is not to be carried out any more.]";

/** The message that ends a cancelled turn in the conversation. */
export const cancelMessage = (cancelledAt: number): Message => ({
  role: "system",
  content: [
    { type: "text", text: CANCELLED },
    { type: "event", name: TURN_CANCELLED, data: {} },
  ],
  timestamp: toTimestamp(cancelledAt),
});

/**
 * Ends what a cancelled run had not answered. The checkpoint moves behind the message that says so: a later loss goes back to it, and
 * never to before the cancel.
 */
export async function settleCancelled(head: EndedHead, ports: Pick<RunPorts, "table">): Promise<SettledCancel> {
  const text = JSON.stringify([cancelMessage(head.ended_at)]);
  const bytes = Buffer.byteLength(text);
  const number = head.messages + 1;
  const checkpoint = await checkpointOf(head, ports);
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

/** Whether a run was cancelled and then went on with a follow-up of its own. */
export const wasCancelled = (own: readonly Message[]): boolean => own.some(tellsOfCancel);
