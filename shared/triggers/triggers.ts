import { invalid, notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import { type PersonalPrincipal, toProfile } from "#shared/principals/principal.ts";
import { findExecutor } from "#shared/schedules/agent.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { generateSigningSecret } from "#shared/webhooks/signature.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type {
  CreateTriggerRequest,
  TriggerItem,
  TriggerVerification,
  UpdateTriggerRequest,
} from "#shared/wire/triggers/trigger.ts";
import { checkTemplate } from "./template.ts";
import type { TriggerPorts, TriggerReadPorts } from "./trigger-ports.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";

/** Triggers that one team may have: a list of them is read whole. */
const MAX_TRIGGERS = 50;
const ATTEMPTS = 8;

/** Members of a trigger that this version does not carry out, and what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  preset: "set verification",
  filter: "set events",
  followup_prompt: "each delivery starts a run of its own",
  agent_config: "set agent_uid; the identity's defaults configure the runs",
  threads: "each delivery starts a run of its own",
  thread_key: "each delivery starts a run of its own",
  busy: "each delivery starts a run of its own",
  allow: "the other system is the author of its events",
  credential: "the other system is the author of its events",
  reply: "let the agent reply with a tool or a secret of its environment",
  budget_usd: "set a budget for the team",
  scopes: "set agent_uid",
  pause_after_failures: "set enabled",
};

/** Refuses members that this version knows and does not carry out. */
export function refuseUnsupported(sentBody: unknown): void {
  const sent = new Map(Object.entries(sentBody ?? {}));
  for (const [name, remedy] of Object.entries(UNSUPPORTED)) {
    const value: unknown = sent.get(name);
    const isEmpty = value === undefined || value === null || value === "" || JSON.stringify(value) === "[]";
    if (isEmpty) continue;
    const detail = `${name}: is not supported by triggers yet; ${remedy}`;
    throw new RunyardError("operation_not_supported", { detail, errors: [{ path: name, message: remedy }] });
  }
}

export interface CreatedTrigger {
  readonly trigger: Trigger;
  readonly secret: string;
  readonly replayed: boolean;
}

/** Creates a trigger once: first its secret, then the trigger. A repeated request gets the same secret. */
export async function addTrigger(
  team: string,
  request: CreateTriggerRequest,
  caller: PersonalPrincipal,
  idempotency: IdempotentRequest,
  { table, now: clock, webhookSecrets }: TriggerPorts,
): Promise<CreatedTrigger> {
  const store = triggerStore(table);
  const verification = toVerification(request);
  await checkRequest(team, request, caller, table);
  return runIdempotent<CreatedTrigger>(
    table,
    idempotency,
    clock,
    async (record) => {
      if ((await store.list([team])).length >= MAX_TRIGGERS) throw tooMany(MAX_TRIGGERS, "triggers of this team");
      const now = clock();
      const secret = request.secret ?? generateSigningSecret();
      const trigger = newTrigger(team, request, verification, caller, now);
      await webhookSecrets.put(team, trigger.secret_id, secret);
      try {
        await store.create(trigger, record(trigger.uid));
      } catch (error) {
        // After any other error, such as a lost response, the trigger may be stored.
        if (!(error instanceof ConflictError) && !(error instanceof RunyardError)) throw error;
        await webhookSecrets.remove(team, trigger.secret_id);
        throw error instanceof ConflictError ? new IdempotencyRecordExists() : error;
      }
      return { trigger, secret, replayed: false };
    },
    async (uid) => {
      const trigger = await readTrigger([team], uid, table);
      const secret = (await webhookSecrets.getAll(team, [trigger.secret_id])).get(trigger.secret_id);
      if (secret === undefined) throw notFound("trigger");
      return { trigger, secret, replayed: true };
    },
  );
}

const newTrigger = (
  team: string,
  request: CreateTriggerRequest,
  verification: TriggerVerification,
  caller: PersonalPrincipal,
  now: number,
): Trigger => ({
  uid: uuidv7(now),
  team_uid: team,
  name: request.name,
  kind: request.kind,
  enabled: request.enabled ?? true,
  verification,
  prompt: request.prompt,
  events: [...new Set(request.events)],
  ...(request.agent_uid === undefined ? {} : { agent_uid: request.agent_uid }),
  mode: request.mode ?? "normal",
  ...(request.metadata === undefined ? {} : { metadata: request.metadata }),
  secret_id: uuidv7(now),
  created_by: toProfile(caller),
  created_at: now,
  updated_at: now,
});

function toVerification({ verification = { scheme: "standard" }, secret }: CreateTriggerRequest): TriggerVerification {
  const { scheme, header, ...rest } = verification;
  if (scheme === "hmac") {
    if (header === undefined) throw invalid("verification.header", "is required by the scheme hmac");
    return { scheme, header, encoding: rest.encoding ?? "hex", ...rest };
  }
  const [other] = Object.keys({ ...rest, ...(header === undefined ? {} : { header }) });
  if (other !== undefined) throw invalid(`verification.${other}`, "is for the scheme hmac only");
  if (scheme === "standard" && secret !== undefined && !/^(whsec_)?[A-Za-z0-9+/]{22,}={0,2}$/.test(secret)) {
    throw invalid("secret", "must be whsec_ followed by base64, as Standard Webhooks have it");
  }
  return { scheme };
}

async function checkRequest(
  team: string,
  { prompt, agent_uid }: UpdateTriggerRequest,
  caller: PersonalPrincipal | undefined,
  table: Table,
): Promise<void> {
  if (prompt !== undefined) checkTemplate(prompt);
  if (agent_uid === undefined || agent_uid === "" || caller === undefined) return;
  await findExecutor({ owner: { type: "Team", uid: team }, created_by: toProfile(caller), agent_uid }, table);
}

/** @throws RunyardError 404 */
export async function readTrigger(teams: readonly string[], uid: string, table: Table): Promise<Trigger> {
  const trigger = await triggerStore(table).get(uid);
  if (trigger === undefined || !teams.includes(trigger.team_uid)) throw notFound("trigger");
  return trigger;
}

/** Changes a trigger: members that are absent keep their values, empty ones are cleared. */
export async function changeTrigger(
  teams: readonly string[],
  uid: string,
  request: UpdateTriggerRequest,
  caller: PersonalPrincipal,
  { table, now }: TriggerReadPorts,
): Promise<Trigger> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readTrigger(teams, uid, table);
    await checkRequest(before.team_uid, request, caller, table);
    const { agent_uid = before.agent_uid, metadata = before.metadata, ...members } = request;
    const { agent_uid: _agent, metadata: _metadata, ...kept } = before;
    const trigger: Trigger = {
      ...kept,
      ...members,
      ...(agent_uid === undefined || agent_uid === "" ? {} : { agent_uid }),
      ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }),
      updated_at: Math.max(now(), before.updated_at + 1),
    };
    try {
      await triggerStore(table).update(before, trigger);
      return trigger;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
  throw retryableConflict("the trigger is changed by other requests; send the request again");
}

/** Deletes a trigger, then its secret. From then on its deliveries are refused; its runs continue. */
export async function removeTrigger(
  teams: readonly string[],
  uid: string,
  { table, webhookSecrets }: Pick<TriggerPorts, "table" | "webhookSecrets">,
): Promise<void> {
  const trigger = await readTrigger(teams, uid, table);
  try {
    await triggerStore(table).delete(trigger);
  } catch (error) {
    throw error instanceof ConflictError ? notFound("trigger") : error;
  }
  await webhookSecrets.remove(trigger.team_uid, trigger.secret_id);
}

/** A trigger as responses show it. */
export const toTriggerItem = (
  { team_uid, secret_id: _, events, created_at, updated_at, ...trigger }: Trigger,
  { baseUrl }: Pick<TriggerReadPorts, "baseUrl">,
): TriggerItem => ({
  ...trigger,
  ingress_url: `${baseUrl}/hooks/${trigger.uid}`,
  ...(events.length === 0 ? {} : { events }),
  scope: { type: "Team", uid: team_uid },
  created_at: toTimestamp(created_at),
  updated_at: toTimestamp(updated_at),
});
