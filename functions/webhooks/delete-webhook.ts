import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import type { WebhookPorts } from "#shared/webhooks/webhook-ports.ts";
import { removeWebhook } from "#shared/webhooks/webhooks.ts";

/**
 * DELETE /agent/webhooks/{webhookUid}: deletes a webhook with its signing secret. Pending deliveries are not attempted
 * again. Requires the role `admin`.
 */
export const deleteWebhook = endpoint({
  request: { path: v.object({ webhookUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: WebhookPorts) {
    await removeWebhook(requireAdministeredTeams(principal), path.webhookUid, ports);
    return { status: 204 };
  },
});
