import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import { readDeliveryPage } from "#shared/webhooks/deliveries.ts";
import type { WebhookReadPorts } from "#shared/webhooks/webhook-ports.ts";
import { readWebhook } from "#shared/webhooks/webhooks.ts";
import { DeliveryState, ListDeliveriesResponse } from "#shared/wire/webhooks/webhook.ts";

/**
 * GET /agent/webhooks/{webhookUid}/deliveries: lists the deliveries of a webhook with their attempts. The newest come
 * first, unless `sort_order` says otherwise. Deliveries are kept for seven days. Requires the role `admin`.
 */
export const listDeliveries = endpoint({
  request: {
    path: v.object({ webhookUid: PathId }),
    query: {
      ...pageQuery,
      /** Selects deliveries in this state. A page may then be short and not the last. */
      state: one(DeliveryState),
      /** The direction of the deliveries' numbers: `asc` lists the oldest first. @default desc */
      sort_order: one(v.picklist(["asc", "desc"])),
    },
  },
  reply: { 200: ListDeliveriesResponse },
  async run({ path, query, principal }, ports: WebhookReadPorts) {
    const webhook = await readWebhook(requireAdministeredTeams(principal), path.webhookUid, ports.table);
    return { status: 200, body: await readDeliveryPage(webhook, query, principal, ports) };
  },
});
