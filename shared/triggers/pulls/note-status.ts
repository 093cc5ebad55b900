import { setPullStatus } from "#shared/artifacts/artifact-store.ts";
import { listReferringRuns } from "#shared/runs/references/reference-store.ts";
import type { Table } from "#shared/table/table.ts";
import type { TriggerEvent } from "../event.ts";
import { findSource } from "../sources/find-source.ts";
import type { Trigger } from "../trigger-store.ts";

/** Runs of the team whose artifacts may show one pull request. */
const MAX_RUNS = 20;

/**
 * Records the status of the pull request that an event is about, in the artifacts of the team's runs that have opened it: also for an
 * event that starts no run. To do this twice, or for events that come in another order, has the same result.
 */
export async function notePullStatus(trigger: Trigger, event: TriggerEvent, table: Table): Promise<void> {
  const { url = "", status, changedAt = "" } = findSource(trigger).toPull?.(event) ?? {};
  if (url === "" || status === undefined || changedAt === "") return;
  for (const runId of await listReferringRuns(trigger.owner, url, MAX_RUNS, table)) {
    await setPullStatus(runId, url, { status, changedAt }, table);
  }
}
