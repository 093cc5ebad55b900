import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import type { WebhookReadPorts } from "#shared/webhooks/webhook-ports.ts";
import { readWebhook, toWebhookItem } from "#shared/webhooks/webhooks.ts";
import { WebhookItem } from "#shared/wire/webhooks/webhook.ts";

/** GET /agent/webhooks/{webhookUid}: returns a webhook, without its signing secret. Requires the role `admin`. */
export const getWebhook = endpoint({
  request: { path: v.object({ webhookUid: PathId }) },
  reply: { 200: WebhookItem },
  async run({ path, principal }, ports: WebhookReadPorts) {
    const webhook = await readWebhook(requireAdministeredTeams(principal), path.webhookUid, ports.table);
    return { status: 200, body: toWebhookItem(webhook, ports.now()) };
  },
});
