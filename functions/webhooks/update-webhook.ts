import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import type { WebhookReadPorts } from "#shared/webhooks/webhook-ports.ts";
import { changeWebhook, toWebhookItem } from "#shared/webhooks/webhooks.ts";
import { UpdateWebhookRequest, WebhookItem } from "#shared/wire/webhooks/webhook.ts";

/**
 * PUT /agent/webhooks/{webhookUid}: updates a webhook. Members that are absent or null keep their values; an empty value
 * (`""`, `[]` or `{}`) clears one. Events that occur while a webhook is disabled are not delivered to it. Requires the
 * role `admin`.
 */
export const updateWebhook = endpoint({
  request: { path: v.object({ webhookUid: PathId }), body: UpdateWebhookRequest },
  reply: { 200: WebhookItem },
  async run({ path, body, principal }, ports: WebhookReadPorts) {
    const webhook = await changeWebhook(requireAdministeredTeams(principal), path.webhookUid, body, ports);
    return { status: 200, body: toWebhookItem(webhook, ports.now()) };
  },
});
