import { isDeepStrictEqual } from "node:util";
import { refuseUnsupportedMembers } from "#shared/http/unsupported-members.ts";
import { type IdempotentRequest, runReversible } from "#shared/idempotency/idempotent-request.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { grantScopes, intersectScopes, type StoredScopes, scopesMember } from "#shared/principals/scopes.ts";
import { changeFailureCount } from "#shared/schedules/failures.ts";
import type { Put } from "#shared/table/table.ts";
import type { UpdateTriggerRequest } from "#shared/wire/triggers/trigger.ts";
import { pauseWithoutCreator } from "./pause-triggers.ts";
import { readTrigger, retryOnChange } from "./read-trigger.ts";
import { configMember } from "./trigger-config.ts";
import type { TriggerReadPorts, TriggerWritePorts } from "./trigger-ports.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";
import { checkReply, checkRequest, DEFAULT_ENCODING } from "./triggers.ts";

type ChangePorts = Pick<TriggerReadPorts, "table" | "now">;

interface UpdateCall {
  readonly body: UpdateTriggerRequest;
  /** The body as it was sent, whose members that cannot be changed are compared with the trigger's. */
  readonly sentBody: unknown;
}

/**
 * Changes a trigger: members that are absent keep their values, empty ones are cleared.
 * @throws RunyardError 422 if a member that cannot be changed has another value
 */
export function changeTrigger(
  teams: readonly string[],
  uid: string,
  { body: request, sentBody }: UpdateCall,
  caller: PersonalPrincipal,
  ports: ChangePorts & Pick<TriggerWritePorts, "webhooks">,
): Promise<Trigger> {
  return retryOnChange(teams, uid, ports.table, async (before) => {
    refuseFixedMembers(sentBody, before);
    await checkRequest(request, before, caller, ports.table);
    const { enabled = before.enabled, agent_config, scopes, pause_after_failures: limit } = request;
    const current = withEnabled(before, enabled, ports.now());
    const {
      agent_uid,
      budget_usd,
      followup_prompt,
      filter,
      thread_key,
      credential,
      allow,
      metadata,
      agent_config: _config,
      scopes: _scopes,
      pause_after_failures: _limit,
      ...members
    } = { ...current, ...request };
    const changed = {
      ...members,
      ...changeFailureCount(current, { limit }),
      ...(agent_uid === undefined || agent_uid === "" ? {} : { agent_uid }),
      ...changeConfig(before, agent_config),
      ...(budget_usd === undefined || budget_usd === null ? {} : { budget_usd }),
      ...(followup_prompt === undefined || followup_prompt === "" ? {} : { followup_prompt }),
      ...(filter === undefined || filter === "" ? {} : { filter }),
      ...(thread_key === undefined || thread_key === "" ? {} : { thread_key }),
      ...(credential === undefined || credential === "" ? {} : { credential }),
      ...(allow === undefined || Object.keys(allow).length === 0 ? {} : { allow }),
      ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }),
      ...scopesMember(changeScopes(before, scopes, caller)),
    };
    await checkReply(changed, ports.webhooks, ports.table);
    return replace(before, changed, ports);
  });
}

/** Refuses other values of the members that stay as the trigger was created. A client may send back what it has read or created. */
function refuseFixedMembers(sentBody: unknown, { kind, preset, verification, owner }: Trigger): void {
  const toRule = (current: unknown, aspect: string) => ({
    supported: (value: unknown) => isDeepStrictEqual(withEncoding(value), withEncoding(current)),
    remedy: `leave it out: it stays ${describeValue(current)}; create another trigger for another ${aspect}`,
  });
  const rules = {
    kind: toRule(kind, "system"),
    preset: toRule(preset, "system"),
    verification: toRule(verification, "verification"),
    team: toRule(owner.type === "Team", "owner"),
  };
  refuseUnsupportedMembers(sentBody, rules, "changes of a trigger");
}

/** Adds the default that the scheme `hmac` is stored with. */
const withEncoding = (value: unknown): unknown =>
  typeof value === "object" ? { encoding: DEFAULT_ENCODING, ...value } : value;

const describeValue = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "absent");

/** The configuration after a change, with the secrets of the one before it where the request shows them as `***`. */
function changeConfig(
  { agent_config: before }: Trigger,
  sent: UpdateTriggerRequest["agent_config"],
): Pick<Trigger, "agent_config"> {
  if (sent === undefined) return before === undefined ? {} : { agent_config: before };
  return configMember(sent, before);
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
        replace(before, withEnabled(before, enabled, ports.now()), ports, record?.(uid)),
      ),
    read: () => readTrigger(teams, uid, ports.table),
    isSet: (current) => current.enabled === enabled,
  });
  return { trigger, replayed };
}

/** A trigger after it is paused or resumed; the same object where it is in this state. The failures of a resumed one count from now. */
function withEnabled(before: Trigger, enabled: boolean, now: number): Trigger {
  if (before.enabled === enabled) return before;
  const { pause_reason: _, ...rest } = before;
  return { ...rest, enabled, ...(enabled ? changeFailureCount(before, { resumedAt: now }) : {}) };
}

/** Writes a trigger, or only the record of the request where it is the same object. */
async function replace(before: Trigger, changed: Trigger, { table, now }: ChangePorts, record?: Put): Promise<Trigger> {
  const trigger = changed === before ? before : { ...changed, updated_at: Math.max(now(), before.updated_at + 1) };
  await triggerStore(table).update(before, trigger, { idempotency: record });
  if (trigger.enabled) await pauseWithoutCreator(trigger, { table, now });
  return trigger;
}
