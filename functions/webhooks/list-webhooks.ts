import { endpoint } from "#shared/http/endpoint.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import type { WebhookReadPorts } from "#shared/webhooks/webhook-ports.ts";
import { readWebhooks, toWebhookItem } from "#shared/webhooks/webhooks.ts";
import { ListWebhooksResponse } from "#shared/wire/webhooks/webhook.ts";

/** GET /agent/webhooks: lists a team's webhooks, oldest first. Requires the role `admin`. */
export const listWebhooks = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListWebhooksResponse },
  async run({ query, principal }, ports: WebhookReadPorts) {
    const teams = requireAdministeredTeams(principal);
    const now = ports.now();
    const all = (await readWebhooks(teams, ports.table)).map((webhook) => toWebhookItem(webhook, now));
    const binding = ["webhooks", toPrincipalKey(principal), teams];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { webhooks: items, ...page } };
  },
});
