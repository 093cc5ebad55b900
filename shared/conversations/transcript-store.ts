import { isStopAwaited, type RunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";

/**
 * Records the number of events that the transcript of an ended run contains, and ends the checks of the run by the reaper. Does
 * nothing if the run has changed since `head` was read.
 */
export async function putTranscriptEvents(head: RunHead, events: number, table: Pick<Table, "write">): Promise<void> {
  const isStopping = isStopAwaited(head) || head.stops !== undefined;
  // Where the run has changed, the message of that change composes the transcript again.
  await writeIf(table, {
    kind: "update",
    key: keys.head(head.run_id),
    set: { transcript_events: events, transcript_spread: true },
    // The reaper keeps checking a run whose sandbox is not known to have stopped.
    remove: isStopping ? [] : ["check_shard", "check_at"],
    if: {
      next_sequence: { eq: head.next_sequence },
      state: { eq: head.state },
      ...(isStopping ? {} : { stops: { exists: false } }),
    },
  });
}
