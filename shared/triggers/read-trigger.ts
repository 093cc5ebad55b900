import { notFound, retryableConflict } from "#shared/errors.ts";
import { IdempotencyRecordExists } from "#shared/idempotency/idempotent-request.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";

const MAX_ATTEMPTS = 8;

/** @throws RunyardError 404 */
export async function readTrigger(teams: readonly string[], uid: string, table: Table): Promise<Trigger> {
  const trigger = await triggerStore(table).get(uid);
  if (trigger === undefined || !teams.includes(trigger.team_uid)) throw notFound("trigger");
  return trigger;
}

/** Reads a trigger and writes it by `attempt`; repeats both where it was changed in between. */
export async function retryOnChange<T>(
  teams: readonly string[],
  uid: string,
  table: Table,
  attempt: (before: Trigger) => Promise<T>,
): Promise<T> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    try {
      return await attempt(await readTrigger(teams, uid, table));
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
    }
  }
  throw retryableConflict("the trigger is changed by other requests; send the request again");
}
