import { notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import { refuseReceiver, refuseUrl } from "#shared/notifications/receiver-url.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { toProfile } from "#shared/principals/principal.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import {
  type CreateWebhookRequest,
  type UpdateWebhookRequest,
  WEBHOOK_EVENT_TYPES,
  type WebhookItem,
} from "#shared/wire/webhooks/webhook.ts";
import { listSecretIds, secretReplaced } from "./replace-secret.ts";
import { generateSigningSecret } from "./signature.ts";
import type { WebhookPorts, WebhookReadPorts } from "./webhook-ports.ts";
import { type Webhook, webhookStore } from "./webhook-store.ts";

/** Webhooks that one team may have. Each event of its runs may be delivered to all of them. */
const MAX_WEBHOOKS = 10;

export interface CreatedWebhook {
  readonly webhook: Webhook;
  readonly secret: string;
  readonly replayed: boolean;
}

/** Creates a webhook once: first its secret, then the webhook. A repeated request gets the same secret. */
export async function addWebhook(
  team: string,
  request: CreateWebhookRequest,
  caller: PersonalPrincipal,
  idempotency: IdempotentRequest,
  ports: WebhookPorts,
): Promise<CreatedWebhook> {
  const { table, now: clock, webhookSecrets } = ports;
  refuseReceiver("url", request.url, ports.webhooks);
  const store = webhookStore(table);
  return runIdempotent<CreatedWebhook>(
    table,
    idempotency,
    clock,
    async (record) => {
      if ((await store.list([team])).length >= MAX_WEBHOOKS) throw tooMany(MAX_WEBHOOKS, "webhooks of this team");
      const now = clock();
      const [uid, secret] = [uuidv7(now), generateSigningSecret()];
      const created = { uid, team_uid: team, secret_id: uuidv7(now), created_by: toProfile(caller), created_at: now };
      const webhook = toNewWebhook(created, request);
      await webhookSecrets.put(team, webhook.secret_id, secret);
      try {
        await store.create(webhook, record(uid));
      } catch (error) {
        // After any other error, such as a lost response, the webhook may be stored.
        if (!(error instanceof ConflictError) && !(error instanceof RunyardError)) throw error;
        await webhookSecrets.remove(team, webhook.secret_id);
        throw error instanceof ConflictError ? new IdempotencyRecordExists() : error;
      }
      return { webhook, secret, replayed: false };
    },
    async (uid) => {
      const webhook = await readWebhook([team], uid, table);
      if (webhook.previous_secret !== undefined) throw secretReplaced();
      const secret = (await webhookSecrets.getAll(team, [webhook.secret_id])).get(webhook.secret_id);
      if (secret === undefined) throw notFound("webhook");
      return { webhook: toNewWebhook(webhook, request), secret, replayed: true };
    },
  );
}

/** The webhook as the request creates it, also for a repeat that comes after a change. */
function toNewWebhook(
  {
    uid,
    team_uid,
    secret_id,
    created_by,
    created_at,
  }: Pick<Webhook, "uid" | "team_uid" | "secret_id" | "created_by" | "created_at">,
  request: CreateWebhookRequest,
): Webhook {
  const created = { uid, team_uid, secret_id, created_by, created_at };
  const initial = { ...created, url: request.url, event_types: [], enabled: true, next_sequence: 1 };
  return change({ ...initial, updated_at: created_at }, request, created_at);
}

/** The webhook with the changes of a request: members that are absent or null keep their values, empty ones are cleared. */
function change(webhook: Webhook, request: UpdateWebhookRequest, now: number): Webhook {
  const { name = webhook.name, filter = webhook.filter, format = "json", ...rest } = webhook;
  const newName = request.name ?? name;
  const newFilter = request.filter ?? filter;
  return {
    ...rest,
    url: request.url ?? webhook.url,
    event_types: [...new Set(request.event_types ?? webhook.event_types)],
    enabled: request.enabled ?? webhook.enabled,
    ...((request.format ?? format) === "slack" ? { format: "slack" } : {}),
    updated_at: now,
    ...(newName === undefined || newName === "" ? {} : { name: newName }),
    ...(newFilter === undefined || Object.keys(newFilter).length === 0 ? {} : { filter: newFilter }),
  };
}

/** The webhooks of teams, oldest first. */
export const readWebhooks = (teams: readonly string[], table: Table): Promise<Webhook[]> =>
  webhookStore(table).list(teams);

/** @throws RunyardError 404 */
export async function readWebhook(teams: readonly string[], uid: string, table: Table): Promise<Webhook> {
  const webhook = await webhookStore(table).find(teams, uid);
  if (webhook === undefined) throw notFound("webhook");
  return webhook;
}

/** Changes a webhook. Deliveries that are pending are attempted with the new URL. */
export async function changeWebhook(
  teams: readonly string[],
  uid: string,
  request: UpdateWebhookRequest,
  ports: WebhookReadPorts,
): Promise<Webhook> {
  if (typeof request.url === "string") refuseUrl("url", request.url, ports.webhooks);
  const { table, now } = ports;
  return retryOnConflict(WEBHOOK_CHANGED, async () => {
    const before = await readWebhook(teams, uid, table);
    const webhook = change(before, request, Math.max(now(), before.updated_at + 1));
    await webhookStore(table).update(before, webhook);
    return webhook;
  });
}

const WEBHOOK_CHANGED = "the webhook is";

/** Deletes a webhook, then its secrets. Deliveries that are pending are not attempted again. */
export async function removeWebhook(
  teams: readonly string[],
  uid: string,
  { table, webhookSecrets }: Pick<WebhookPorts, "table" | "webhookSecrets">,
): Promise<void> {
  const deleted = await retryOnConflict(WEBHOOK_CHANGED, async () => {
    const webhook = await readWebhook(teams, uid, table);
    await webhookStore(table).delete(webhook);
    return webhook;
  });
  for (const id of listSecretIds(deleted)) await webhookSecrets.remove(deleted.team_uid, id);
}

/** A webhook as responses show it at a time. */
export const toWebhookItem = (
  { uid, name, url, format, event_types, filter, enabled, previous_secret: previous, ...webhook }: Webhook,
  now: number,
): WebhookItem => ({
  uid,
  ...(name === undefined ? {} : { name }),
  url,
  ...(format === undefined ? {} : { format }),
  event_types: event_types.length === 0 ? [...WEBHOOK_EVENT_TYPES] : event_types,
  ...(filter === undefined ? {} : { filter }),
  enabled,
  created_at: toTimestamp(webhook.created_at),
  updated_at: toTimestamp(webhook.updated_at),
  created_by: webhook.created_by,
  scope: { type: "Team", uid: webhook.team_uid },
  ...(previous === undefined || previous.expires_at <= now
    ? {}
    : { previous_secret_expires_at: toTimestamp(previous.expires_at) }),
});
