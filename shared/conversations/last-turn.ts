import { type Checkpoint, loadCheckpoint, putCheckpoint, resetToCheckpoint } from "#shared/records/checkpoint.ts";
import type { HeadAttributes } from "#shared/records/head-attributes.ts";
import type { EndedHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Put, Value } from "#shared/table/table.ts";
import { isTextBy } from "#shared/wire/conversation.ts";
import { cancelMessage } from "./cancelled-turn.ts";
import { readBatch } from "./messages.ts";

/** The writes by which the last turn of an ended run is settled, together with the follow-up that continues the run. */
export interface SettledTurn {
  /** A message that ends the turn in the conversation. */
  readonly messages?: Readonly<Record<string, Value>>;
  readonly set: HeadAttributes;
  readonly checkpoint: Put;
}

const SETUP_FAILED = "environment_setup_failed";

/**
 * Settles the last turn of an ended run before a follow-up continues it. The checkpoint moves to where the next execution starts, so
 * that a later loss of an execution repeats nothing from before the follow-up:
 * - a turn with a response is not carried out again;
 * - a cancelled turn whose instruction a message replaces ends with a note in the conversation;
 * - any other turn was interrupted: it begins again at the last checkpoint, since only that has the files that its messages speak of.
 * @param isReplaced whether the follow-up has a message of its own
 * @returns undefined if nothing changes
 */
export async function settleLastTurn(
  head: EndedHead,
  isReplaced: boolean,
  ports: Pick<RunPorts, "table" | "runs" | "files">,
): Promise<SettledTurn | undefined> {
  const checkpoint = await loadCheckpoint(head, ports);
  if (head.state === "CANCELLED" && isReplaced) return endCancelledTurn(head, checkpoint);
  if (await hasResponse(head, ports)) {
    const { messages, followups_stored: followups } = head;
    if (checkpoint.messages === messages && checkpoint.followups === followups) return undefined;
    return {
      set: { checkpoint: true },
      checkpoint: putCheckpoint(head.run_id, { ...checkpoint, messages, followups }),
    };
  }
  const resetCheckpoint = resetToCheckpoint(checkpoint, head);
  if (resetCheckpoint === undefined) return undefined;
  return {
    set: { checkpoint: true, followups_stored: Math.min(head.followups_stored, checkpoint.followups) },
    checkpoint: putCheckpoint(head.run_id, resetCheckpoint),
  };
}

/**
 * Whether the last turn of an ended run has its response. A run that failed may have been ended by the service during a turn, and a
 * failed setup is reported in place of the turn.
 */
async function hasResponse(head: EndedHead, ports: Pick<RunPorts, "runs" | "files">): Promise<boolean> {
  if (head.state !== "FAILED") return head.state === "SUCCEEDED" || head.state === "BLOCKED";
  if (head.status_message?.error_code === SETUP_FAILED) return false;
  const item = await ports.runs.lastMessageItem(head.run_id);
  const last = item === undefined ? undefined : (await readBatch(item, ports.files)).messages.at(-1);
  return last !== undefined && isTextBy("assistant", last);
}

function endCancelledTurn(head: EndedHead, checkpoint: Checkpoint): SettledTurn {
  const text = JSON.stringify([cancelMessage(head.ended_at)]);
  const bytes = Buffer.byteLength(text);
  const number = head.messages + 1;
  return {
    messages: { first: number, count: 1, bytes, messages: text },
    set: {
      messages: number,
      message_bytes: head.message_bytes + bytes,
      followups_cancelled: head.followups,
      ...toRemoved(head),
      checkpoint: true,
    },
    checkpoint: putCheckpoint(head.run_id, { ...checkpoint, messages: number, followups: head.followups_stored }),
  };
}

/** Notes which follow-ups the cancel removed before an execution has stored them. */
function toRemoved({ followups, followups_stored, followups_removed = [] }: EndedHead): Record<string, Value> {
  // Those of an earlier cancel are noted already, even if no execution has stored them since.
  const first = Math.max(followups_stored, followups_removed.at(-1)?.[1] ?? 0) + 1;
  return followups >= first ? { followups_removed: [...followups_removed, [first, followups]] } : {};
}
