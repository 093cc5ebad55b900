import { countUnchanged, type ExecutingHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";

/** Times in the head of a run that no event records: the lease of its execution, the next check, and the latest reader. */
export function runLeaseStore(table: Pick<Table, "write">) {
  return {
    /** Records a heartbeat of the execution, and what it acknowledges. Returns false where it is not the run's execution any more. */
    recordHeartbeat: (
      runId: string,
      executionId: string,
      now: number,
      acknowledged: { readonly followups_stored: number; readonly interrupts_handled?: number },
    ): Promise<boolean> =>
      writeIf(table, {
        kind: "update",
        key: keys.head(runId),
        set: { heartbeat_at: now, ...acknowledged },
        if: { execution_id: { eq: executionId }, state: { in: ["CLAIMED", "INPROGRESS"] } },
      }),

    /**
     * Records a heartbeat with which the execution takes the follow-up `taken`. Returns false where it is not the run's execution any
     * more, or a follow-up was changed since the head was read.
     */
    recordTaken: (head: ExecutingHead, now: number, followupsStored: number, taken: number): Promise<boolean> =>
      writeIf(table, {
        kind: "update",
        key: keys.head(head.run_id),
        set: { heartbeat_at: now, followups_stored: followupsStored, followups_taken: taken },
        ...(head.idle === undefined ? {} : { remove: ["idle"] }),
        if: {
          execution_id: { eq: head.execution_id },
          state: { in: ["CLAIMED", "INPROGRESS"] },
          followup_changes: countUnchanged(head.followup_changes),
        },
      }),

    /** Records that live output is being read, unless the run has ended. */
    async noteWatch(runId: string, now: number): Promise<void> {
      await writeIf(table, {
        kind: "update",
        key: keys.head(runId),
        set: { watched_at: now },
        if: { state: { in: ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"] } },
      });
    },

    /** Extends the lease of an execution once, unless it sends a heartbeat or ends in the meantime. */
    async extendLease({ run_id, execution_id, heartbeat_at }: ExecutingHead): Promise<void> {
      await writeIf(table, {
        kind: "update",
        key: keys.head(run_id),
        set: { extended_from: heartbeat_at },
        if: { execution_id: { eq: execution_id }, heartbeat_at: { eq: heartbeat_at } },
      });
    },

    /** Reschedules the reaper's next check, unless the run has changed in the meantime. */
    async checkAgain(runId: string, from: string, to: string): Promise<void> {
      await writeIf(table, {
        kind: "update",
        key: keys.head(runId),
        set: { check_at: to },
        if: { check_at: { eq: from } },
      });
    },
  };
}
