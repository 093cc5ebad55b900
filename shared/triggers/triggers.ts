import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import { hasInstallation } from "#shared/github/team-installation-store.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import type { ReceiverRules } from "#shared/notifications/receiver-url.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { refuseLimitedKey } from "#shared/principals/key-budget.ts";
import { type PersonalPrincipal, type Principal, toProfile } from "#shared/principals/principal.ts";
import { requireAdministeredTeams, requirePerson } from "#shared/principals/require-role.ts";
import { grantScopes, scopesMember } from "#shared/principals/scopes.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import { findExecutor } from "#shared/schedules/agent.ts";
import { changeFailureCount } from "#shared/schedules/failures.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { secretReplaced } from "#shared/webhooks/replace-secret.ts";
import { generateSigningSecret } from "#shared/webhooks/signature.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type {
  CreateTriggerRequest,
  TriggerItem,
  TriggerKind,
  TriggerVerification,
  UpdateTriggerRequest,
} from "#shared/wire/triggers/trigger.ts";
import { toSystem } from "./access.ts";
import { checkExpressions } from "./filter.ts";
import { pauseWithoutCreator } from "./pause-triggers.ts";
import { readTrigger } from "./read-trigger.ts";
import type { SourceChoice } from "./sources/find-source.ts";
import { PRESETS } from "./sources/presets.ts";
import { checkTemplate } from "./template.ts";
import { checkConfig, configMember } from "./trigger-config.ts";
import type { TriggerPorts, TriggerReadPorts } from "./trigger-ports.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";
import { STANDARD_PREFIX } from "./verify.ts";

/** Triggers that one team may have: a list of them is read whole. */
const MAX_TRIGGERS = 50;

export interface CreatedTrigger {
  readonly trigger: Trigger;
  readonly secret: string;
  readonly replayed: boolean;
}

/** Creates a trigger once: first its secret, then the trigger. A repeated request gets the same secret. */
export async function addTrigger(
  owner: Owner,
  request: CreateTriggerRequest,
  caller: PersonalPrincipal,
  idempotency: IdempotentRequest,
  { table, now: clock, webhookSecrets, webhooks }: TriggerPorts,
): Promise<CreatedTrigger> {
  const store = triggerStore(table);
  const choice = toSourceChoice(request);
  const prompt = request.prompt ?? (choice.preset === undefined ? undefined : PRESETS[choice.preset].prompt);
  if (prompt === undefined) throw invalid("prompt", "is required without a preset");
  await checkRequest(request, { ...request, owner, created_by: toProfile(caller) }, caller, table);
  await checkReply({ ...request, owner }, webhooks, table);
  return runIdempotent<CreatedTrigger>(
    table,
    idempotency,
    clock,
    async (record) => {
      if ((await store.list([owner])).length >= MAX_TRIGGERS) throw tooMany(MAX_TRIGGERS, "triggers of this owner");
      const now = clock();
      const secret = request.secret ?? generateSigningSecret();
      const created = { uid: uuidv7(now), secret_id: uuidv7(now), created_by: toProfile(caller), created_at: now };
      const trigger = newTrigger({ ...created, owner }, { ...request, prompt }, choice, caller);
      await webhookSecrets.put(owner.uid, trigger.secret_id, secret);
      try {
        await store.create(trigger, record(trigger.uid));
      } catch (error) {
        // After any other error, such as a lost response, the trigger may be stored.
        if (!(error instanceof ConflictError) && !(error instanceof RunyardError)) throw error;
        await webhookSecrets.remove(owner.uid, trigger.secret_id);
        throw error instanceof ConflictError ? new IdempotencyRecordExists() : error;
      }
      await pauseWithoutCreator(trigger, { table, now: clock });
      return { trigger, secret, replayed: false };
    },
    async (uid) => {
      const trigger = await readTrigger([owner.uid], uid, table);
      if (trigger.previous_secret !== undefined) throw secretReplaced();
      const secret = (await webhookSecrets.getAll(owner.uid, [trigger.secret_id])).get(trigger.secret_id);
      if (secret === undefined) throw notFound("trigger");
      return { trigger: newTrigger(trigger, { ...request, prompt }, choice, caller), secret, replayed: true };
    },
  );
}

/** The trigger as the request creates it, also for a repeat that comes after a change. */
const newTrigger = (
  {
    uid,
    owner,
    secret_id,
    created_by,
    created_at,
  }: Pick<Trigger, "uid" | "owner" | "secret_id" | "created_by" | "created_at">,
  request: CreateTriggerRequest & { readonly prompt: string },
  choice: SourceChoice,
  caller: PersonalPrincipal,
): Trigger => ({
  uid,
  owner,
  name: request.name,
  ...choice,
  enabled: request.enabled ?? true,
  prompt: request.prompt,
  events: [...new Set(request.events)],
  ...(request.agent_uid === undefined ? {} : { agent_uid: request.agent_uid }),
  ...configMember(request.agent_config, undefined),
  ...(request.budget_usd === undefined ? {} : { budget_usd: request.budget_usd }),
  ...((request.filter ?? "") === "" ? {} : { filter: request.filter }),
  ...((request.thread_key ?? "") === "" ? {} : { thread_key: request.thread_key }),
  mode: request.mode ?? "normal",
  ...(request.followup_prompt === undefined ? {} : { followup_prompt: request.followup_prompt }),
  ...(request.threads === undefined ? {} : { threads: request.threads }),
  ...(request.busy === undefined ? {} : { busy: request.busy }),
  ...(request.allow === undefined ? {} : { allow: request.allow }),
  ...((request.credential ?? "") === "" ? {} : { credential: request.credential }),
  ...(request.reply === undefined ? {} : { reply: request.reply }),
  ...(request.metadata === undefined ? {} : { metadata: request.metadata }),
  ...changeFailureCount({}, { limit: request.pause_after_failures }),
  ...scopesMember(grantScopes(request.scopes, caller)),
  secret_id,
  created_by,
  created_at,
  updated_at: created_at,
});

/** The encoding of the signatures of the scheme `hmac`. */
export const DEFAULT_ENCODING = "hex";

/** Systems that make the secrets of their webhooks. */
const MAKES_SECRETS: readonly string[] = ["slack", "linear", "sentry", "pagerduty"];

function toSourceChoice(request: CreateTriggerRequest): SourceChoice {
  const { kind, preset, verification: sent } = request;
  if (kind !== "webhook") {
    for (const name of ["preset", "verification"] as const) {
      if (request[name] !== undefined) throw invalid(name, `is for the kind webhook only; ${kind} has its own`);
    }
    checkSecret({ kind }, request.secret);
    return { kind };
  }
  const isOfPreset = preset !== undefined && sent !== undefined && !(preset === "jira" && sent.scheme === "bearer");
  if (isOfPreset) throw invalid("verification", `leave it out: the preset ${preset} has its own`);
  const verification = toVerification(sent ?? (preset && PRESETS[preset].verification) ?? { scheme: "standard" });
  const choice = { kind, verification, ...(preset === undefined ? {} : { preset }) };
  checkSecret(choice, request.secret);
  return choice;
}

function toVerification({ scheme, header, ...rest }: TriggerVerification): TriggerVerification {
  if (scheme === "hmac") {
    if (header === undefined) throw invalid("verification.header", "is required by the scheme hmac");
    return { scheme, header, encoding: rest.encoding ?? DEFAULT_ENCODING, ...rest };
  }
  const [other] = Object.keys({ ...rest, ...(header === undefined ? {} : { header }) });
  if (other !== undefined) throw invalid(`verification.${other}`, "is for the scheme hmac only");
  return { scheme };
}

/** Refuses a secret that the scheme cannot decode, and the lack of one that the other system makes. */
export function checkSecret({ kind, preset, verification }: SourceChoice, secret: string | undefined): void {
  const system = preset ?? kind;
  if (secret === undefined) {
    if (MAKES_SECRETS.includes(system)) throw invalid("secret", `is required: ${system} makes it`);
    return;
  }
  const isStandard = kind === "gitlab" ? secret.startsWith(STANDARD_PREFIX) : verification?.scheme === "standard";
  if (!isStandard || /^(whsec_)?[A-Za-z0-9+/]{22,}={0,2}$/.test(secret)) return;
  throw invalid("secret", "must be whsec_ followed by base64, as in Standard Webhooks");
}

/** Refuses a template or an expression with errors, and an identity that the caller cannot have execute runs of the team. */
export async function checkRequest(
  request: UpdateTriggerRequest,
  trigger: Pick<Trigger, "owner" | "kind" | "created_by">,
  caller: PersonalPrincipal,
  table: Table,
): Promise<void> {
  const { prompt, followup_prompt, agent_uid, agent_config } = request;
  const { owner, kind } = trigger;
  refuseLimitedKey(caller, "triggers");
  if (prompt !== undefined) checkTemplate(prompt);
  if (followup_prompt !== undefined) checkTemplate(followup_prompt, "followup_prompt");
  await checkExpressions(kind, request);
  await checkCredential(owner, request.credential ?? "", kind, table);
  if (agent_config !== undefined) await checkConfig(agent_config, trigger, table);
  if (agent_uid === undefined || agent_uid === "") return;
  if (owner.type === "User") throw invalid("agent_uid", "is for triggers of a team only");
  await findExecutor({ owner, created_by: toProfile(caller), agent_uid }, table);
}

/** Refuses a credential that the team does not have, and one of a kind that is not called. */
async function checkCredential(owner: Owner, name: string, kind: TriggerKind, table: Table): Promise<void> {
  if (name === "") return;
  if (toSystem({ kind }) === undefined) throw invalid("credential", "is for the kinds github, gitlab and slack");
  if (owner.type === "User") throw invalid("credential", "is for triggers of a team only: secrets belong to teams");
  const [secret] = await secretStore(table).getMany(owner.uid, [name]);
  if (secret === undefined) throw invalid("credential", "must be the name of a secret of the team: create it first");
}

/**
 * Refuses replies that cannot be sent: without a credential or an installation of the GitHub App, and where the deployment does not send
 * events of its runs.
 */
export async function checkReply(
  { owner, kind, reply, credential = "" }: Pick<Trigger, "owner" | "kind" | "reply" | "credential">,
  rules: ReceiverRules | undefined,
  table: Table,
): Promise<void> {
  if (reply?.to !== "thread") return;
  if (rules?.isAvailable !== true) {
    const detail = "reply: this deployment does not send events of its runs";
    throw new RunyardError("operation_not_supported", { detail, errors: [{ path: "reply", message: "leave it out" }] });
  }
  if (credential !== "" || (kind === "github" && owner.type === "Team" && (await hasInstallation(owner.uid, table))))
    return;
  const app = kind === "github" ? ", or an installation of the GitHub App that the team has claimed" : "";
  throw invalid("reply", `needs a credential, with which the other system is called${app}`);
}

/** A trigger as responses show it. */
export const toTriggerItem = (
  { owner, secret_id: _, previous_secret: __, failures_from: ___, events, failing_since, ...trigger }: Trigger,
  { baseUrl }: Pick<TriggerReadPorts, "baseUrl">,
): TriggerItem => ({
  ...trigger,
  ingress_url: `${baseUrl}/hooks/${trigger.uid}`,
  ...(events.length === 0 ? {} : { events }),
  ...(trigger.agent_config === undefined ? {} : { agent_config: shownConfig(trigger.agent_config) }),
  scope: owner,
  created_at: toTimestamp(trigger.created_at),
  updated_at: toTimestamp(trigger.updated_at),
  ...(failing_since === undefined ? {} : { failing_since: toTimestamp(failing_since) }),
});

/**
 * Reads a trigger for a person who may see payloads of its events: an admin, or its creator.
 * @throws RunyardError 403 to other members, 404 to everybody else
 */
export async function readTriggerOfPerson(uid: string, principal: Principal, table: Table): Promise<Trigger> {
  const { user } = requirePerson(principal);
  const trigger = await readTrigger([...listTeamsToRead(principal), user.uid], uid, table);
  return trigger.created_by.uid === user.uid ? trigger : readTrigger(requireAdministeredTeams(principal), uid, table);
}
