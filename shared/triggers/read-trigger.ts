import { notFound, RunyardError } from "#shared/errors.ts";
import { IdempotencyRecordExists } from "#shared/idempotency/idempotent-request.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { requireAdministeredTeams, requirePerson } from "#shared/principals/require-role.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";

/**
 * Reads a trigger of teams and people.
 * @param owners their uids
 * @throws RunyardError 404
 */
export async function readTrigger(owners: readonly string[], uid: string, table: Table): Promise<Trigger> {
  const trigger = await triggerStore(table).get(uid);
  if (trigger === undefined || !owners.includes(trigger.owner.uid)) throw notFound("trigger");
  return trigger;
}

/**
 * The uids of those whose triggers the caller manages: of the teams that they are an admin of, and their own.
 * @throws RunyardError 403 to a member of a team without the role, unless the trigger is their own
 */
export async function requireOwners(principal: Principal, uid: string, table: Table): Promise<readonly string[]> {
  const { user } = requirePerson(principal);
  const { teams, refusal } = findTeams(principal);
  if (refusal === undefined) return [...teams, user.uid];
  const trigger = await triggerStore(table).get(uid);
  if (trigger?.owner.uid === user.uid) return [user.uid];
  throw refusal;
}

/**
 * Reads a trigger that the caller manages.
 * @throws RunyardError 404; 403 as `requireOwners`
 */
export const readManagedTrigger = async (principal: Principal, uid: string, table: Table): Promise<Trigger> =>
  readTrigger(await requireOwners(principal, uid, table), uid, table);

interface ManagedTriggers {
  readonly triggers: readonly Trigger[];
  /** The uids of those whose triggers they are. */
  readonly owners: readonly string[];
}

/** Lists the triggers that the caller manages: those of teams before their own, oldest first. */
export async function listManagedTriggers(principal: Principal, table: Table): Promise<ManagedTriggers> {
  const { user } = requirePerson(principal);
  const { teams, refusal } = findTeams(principal);
  const ofTeams = teams.map((uid) => ({ type: "Team", uid }) as const);
  const triggers = await triggerStore(table).list([...ofTeams, { type: "User", uid: user.uid }]);
  if (refusal !== undefined && triggers.length === 0) throw refusal;
  return { triggers, owners: [...teams, user.uid] };
}

function findTeams(principal: Principal): { readonly teams: readonly string[]; readonly refusal?: RunyardError } {
  try {
    return { teams: requireAdministeredTeams(principal) };
  } catch (error) {
    if (error instanceof RunyardError && error.code === "not_authorized") return { teams: [], refusal: error };
    throw error;
  }
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
