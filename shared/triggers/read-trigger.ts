import { notFound } from "#shared/errors.ts";
import { IdempotencyRecordExists } from "#shared/idempotency/idempotent-request.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";

/** @throws RunyardError 404 */
export async function readTrigger(teams: readonly string[], uid: string, table: Table): Promise<Trigger> {
  const trigger = await triggerStore(table).get(uid);
  if (trigger === undefined || !teams.includes(trigger.team_uid)) throw notFound("trigger");
  return trigger;
}

/** Reads a trigger and writes it by `attempt`; repeats both where it was changed in between. */
export function retryOnChange<T>(
  teams: readonly string[],
  uid: string,
  table: Table,
  attempt: (before: Trigger) => Promise<T>,
): Promise<T> {
  return retryOnConflict("the trigger is", async () => {
    try {
      return await attempt(await readTrigger(teams, uid, table));
    } catch (error) {
      const isRepeated = error instanceof ConflictError && error.failed.has("idempotency");
      throw isRepeated ? new IdempotencyRecordExists() : error;
    }
  });
}
