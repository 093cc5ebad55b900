import { RunyardError, retryableConflict } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { Identity } from "#shared/records/identity.ts";
import { activeRuns } from "#shared/runs/capacity/active-runs.ts";
import type { ChangePorts } from "#shared/runs/change-run.ts";
import { failWaitingRun } from "#shared/runs/end-run.ts";
import { pauseSchedulesOf } from "#shared/schedules/auto-pause.ts";
import type { ScheduleStore } from "#shared/schedules/schedule-store.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";
import { identityRemoval } from "./identity-removal.ts";
import { visibleIdentity } from "./read-identities.ts";

const ATTEMPTS = 8;
/** Runs that are ended side by side. */
const AT_ONCE = 10;

export interface DeletionPorts extends ChangePorts {
  readonly table: Table;
  readonly schedules: ScheduleStore;
}

/**
 * Deletes an identity with every key of it in one transaction, then pauses its schedules and ends its runs that have not
 * begun. What this misses (an index entry that came late, a crash in between) is refused where it fires or is dispatched.
 */
export async function deleteIdentity(uid: string, principal: Principal, ports: DeletionPorts): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { identity } = await visibleIdentity(uid, principal, ports.table);
    if (identity.is_default === true) {
      throw new RunyardError("invalid_request", { detail: "the team's default identity cannot be deleted" });
    }
    try {
      await ports.table.transact(await identityRemoval(identity, ports.table));
    } catch (error) {
      if (error instanceof ConditionFailed) continue;
      throw error;
    }
    await pauseSchedulesOf(identity.uid, `the identity ${identity.name} is deleted`, ports);
    return endRunsOf(identity, ports);
  }
  throw retryableConflict("the identity changes too fast; send the request again");
}

async function endRunsOf({ uid, team_uid, name }: Identity, ports: DeletionPorts): Promise<void> {
  const runs = await activeRuns({ type: "Team", uid: team_uid }, ports);
  const ending = runs.filter(
    ({ state, creator, executor }) =>
      (state === "QUEUED" || state === "PENDING") && (creator === uid || executor === uid),
  );
  const why = deletedIdentity(name);
  for (let from = 0; from < ending.length; from += AT_ONCE) {
    const some = ending.slice(from, from + AT_ONCE);
    await Promise.all(some.map(({ runId }) => failWaitingRun(runId, "not_authorized", why, ports)));
  }
}

const deletedIdentity = (name: string): string => `the identity ${name} that the run was for is deleted`;
