import { retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runReversible,
} from "#shared/idempotency/idempotent-request.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { grantScopes, intersectScopes, type StoredScopes, scopesMember } from "#shared/principals/scopes.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { listSecretIds } from "#shared/webhooks/replace-secret.ts";
import type { UpdateTriggerRequest } from "#shared/wire/triggers/trigger.ts";
import type { TriggerPorts, TriggerReadPorts } from "./trigger-ports.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";
import { checkRequest, readTrigger } from "./triggers.ts";

const MAX_ATTEMPTS = 8;

type ChangePorts = Pick<TriggerReadPorts, "table" | "now">;

/** Changes a trigger: members that are absent keep their values, empty ones are cleared. */
export function changeTrigger(
  teams: readonly string[],
  uid: string,
  request: UpdateTriggerRequest,
  caller: PersonalPrincipal,
  ports: ChangePorts,
): Promise<Trigger> {
  return retryOnChange(teams, uid, ports.table, async (before) => {
    await checkRequest(before.team_uid, request, caller, ports.table);
    const {
      agent_uid = before.agent_uid,
      metadata = before.metadata,
      allow = before.allow,
      scopes,
      ...members
    } = request;
    const { agent_uid: _agent, metadata: _metadata, allow: _allow, scopes: _scopes, ...kept } = before;
    const changed = {
      ...kept,
      ...members,
      ...(agent_uid === undefined || agent_uid === "" ? {} : { agent_uid }),
      ...(allow === undefined || Object.keys(allow).length === 0 ? {} : { allow }),
      ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }),
      ...scopesMember(changeScopes(before, scopes, caller)),
    };
    return replace(before, changed, ports);
  });
}

/** What the caller writes is executed with no more than the caller has. Empty scopes are all of the caller's. */
const changeScopes = (before: Trigger, requested: StoredScopes, caller: PersonalPrincipal): StoredScopes =>
  requested === undefined
    ? intersectScopes(before.scopes, caller.scopes)
    : grantScopes(requested.length === 0 ? undefined : requested, caller);

interface Enabled {
  readonly trigger: Trigger;
  readonly replayed: boolean;
}

/** Pauses or resumes a trigger; changes nothing where it is paused or enabled already. */
export async function setEnabled(
  teams: readonly string[],
  uid: string,
  enabled: boolean,
  idempotency: IdempotentRequest,
  ports: ChangePorts,
): Promise<Enabled> {
  const { value: trigger, replayed } = await runReversible(ports.table, idempotency, ports.now, {
    apply: (record) =>
      retryOnChange(teams, uid, ports.table, (before) =>
        replace(before, before.enabled === enabled ? before : { ...before, enabled }, ports, record?.(uid)),
      ),
    read: () => readTrigger(teams, uid, ports.table),
    isSet: (current) => current.enabled === enabled,
  });
  return { trigger, replayed };
}

/** Deletes a trigger, then its secrets. From then on its deliveries are refused; its runs continue. */
export function removeTrigger(
  teams: readonly string[],
  uid: string,
  { table, webhookSecrets }: Pick<TriggerPorts, "table" | "webhookSecrets">,
): Promise<void> {
  return retryOnChange(teams, uid, table, async (trigger) => {
    await triggerStore(table).delete(trigger);
    for (const id of listSecretIds(trigger)) await webhookSecrets.remove(trigger.team_uid, id);
  });
}

/** Writes a trigger, or only the record of the request where it is the same object. */
async function replace(before: Trigger, changed: Trigger, { table, now }: ChangePorts, record?: Put): Promise<Trigger> {
  const trigger = changed === before ? before : { ...changed, updated_at: Math.max(now(), before.updated_at + 1) };
  await triggerStore(table).update(before, trigger, record);
  return trigger;
}

/** Reads a trigger and writes it by `attempt`; repeats both where it was changed in between. */
async function retryOnChange<T>(
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
