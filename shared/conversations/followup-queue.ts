import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { FollowupItem } from "#shared/wire/run.ts";
import { toFollowupId } from "./followup-receipt.ts";
import { parseFollowup, type StoredFollowup } from "./followup-store.ts";
import { readText } from "./followups.ts";

/** Reads all follow-ups of a run as responses show them, oldest first. */
export async function listFollowupItems(
  head: RunHead,
  ports: Pick<RunPorts, "runs" | "files">,
): Promise<FollowupItem[]> {
  if (head.followups === 0) return [];
  const items = await ports.runs.followupItems(head.run_id, 0);
  return Promise.all(
    items.map(async (item) => {
      const followup = parseFollowup(item);
      return toFollowupItem(followup, await readText(followup, ports.files), head);
    }),
  );
}

function toFollowupItem(followup: StoredFollowup, message: string, head: RunHead): FollowupItem {
  const { number, policy, mode, created_at, created_by } = followup;
  return {
    followup_id: toFollowupId(number),
    number,
    message,
    attachments: [],
    ...(mode === undefined ? {} : { mode }),
    policy,
    created_at: toTimestamp(created_at),
    ...(created_by === undefined ? {} : { created_by }),
    state: toFollowupState(number, head),
  };
}

/** A follow-up is pending until the harness has stored it. A cancel removes those that are pending then. */
function toFollowupState(number: number, head: RunHead): FollowupItem["state"] {
  const { followups_removed = [], followups_stored } = head;
  if (followups_removed.some(([first, last]) => number >= first && number <= last)) return "removed";
  if (number <= followups_stored) return "delivered";
  return head.state === "CANCELLED" ? "removed" : "pending";
}
