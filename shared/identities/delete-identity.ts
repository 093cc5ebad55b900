import { splitIntoBatches } from "#shared/arrays.ts";
import { RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { Identity } from "#shared/records/identity.ts";
import { activeRuns } from "#shared/runs/capacity/active-runs.ts";
import type { ChangePorts } from "#shared/runs/change-run.ts";
import { failWaitingRun } from "#shared/runs/end-run.ts";
import { pauseSchedulesByIdentity } from "#shared/schedules/auto-pause.ts";
import type { ScheduleStore } from "#shared/schedules/schedule-store.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { pauseTriggers } from "#shared/triggers/pause-triggers.ts";
import { identityStore } from "./identity-store.ts";
import { readIdentity } from "./read-identities.ts";

/** Runs that are ended concurrently. */
const BATCH = 10;

export interface DeletionPorts extends ChangePorts {
  readonly table: Table;
  readonly schedules: ScheduleStore;
}

/**
 * Deletes an identity with all of its keys in one transaction, then pauses its schedules and triggers, and fails its runs that have not
 * started. Schedules and runs that this misses (a late index entry, a crash in between) are refused when they fire or are
 * dispatched.
 */
export async function removeIdentity(uid: string, principal: Principal, ports: DeletionPorts): Promise<void> {
  const deleted = await retryOnConflict("the identity is", async () => {
    const { identity } = await readIdentity(uid, principal, ports.table);
    if (identity.is_default === true) {
      throw new RunyardError("invalid_request", { detail: "the team's default identity cannot be deleted" });
    }
    await identityStore(ports.table).delete(identity);
    return identity;
  });
  const reason = `the identity ${deleted.name} is deleted`;
  await pauseSchedulesByIdentity(deleted.uid, reason, ports);
  await pauseTriggers(deleted.team_uid, ({ agent_uid }) => agent_uid === deleted.uid, reason, ports);
  await failWaitingRuns(deleted, ports);
}

async function failWaitingRuns({ uid, team_uid, name }: Identity, ports: DeletionPorts): Promise<void> {
  const runs = await activeRuns({ type: "Team", uid: team_uid }, ports);
  const ending = runs.filter(
    ({ state, creator, executor }) =>
      (state === "QUEUED" || state === "PENDING") && (creator === uid || executor === uid),
  );
  const reason = `the identity ${name} that the run was for is deleted`;
  for (const batch of splitIntoBatches(ending, BATCH)) {
    await Promise.all(batch.map(({ runId }) => failWaitingRun(runId, "not_authorized", reason, ports)));
  }
}
