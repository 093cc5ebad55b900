import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import type { WebhookPorts } from "#shared/webhooks/webhook-ports.ts";
import { addWebhook, toWebhookItem } from "#shared/webhooks/webhooks.ts";
import { CreatedWebhook, CreateWebhookRequest } from "#shared/wire/webhooks/webhook.ts";

/**
 * POST /agent/webhooks: creates a webhook, which receives events of the team's runs. The response contains the signing
 * secret, which is never shown again. Events of personal runs are not delivered. A team can have at most 10 webhooks.
 * Requires the role `admin`.
 */
export const createWebhook = endpoint({
  request: { body: CreateWebhookRequest },
  reply: { 201: CreatedWebhook },
  errors: ["operation_not_supported"],
  async run({ body, principal, header }, ports: WebhookPorts) {
    const team = requireTeam(principal);
    const admin = requireAdmin(team, principal);
    const idempotency = toIdempotentRequest(header, principal, `create-webhook:${team}`, body);
    const { webhook, secret, replayed } = await addWebhook(team, body, admin, idempotency, ports);
    return {
      status: 201,
      body: { ...toWebhookItem(webhook, ports.now()), secret },
      headers: toReplayHeaders(replayed),
    };
  },
});
