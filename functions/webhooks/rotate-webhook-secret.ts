import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import { rotateSecret } from "#shared/webhooks/rotate-secret.ts";
import type { WebhookPorts } from "#shared/webhooks/webhook-ports.ts";
import { toWebhookItem } from "#shared/webhooks/webhooks.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { RotateSecretResponse } from "#shared/wire/webhooks/webhook.ts";

/**
 * POST /agent/webhooks/{webhookUid}/rotate-secret: replaces the signing secret of a webhook. The response contains the new
 * secret, which is never shown again. Deliveries are signed with both secrets for 24 hours; rotating again ends the older one
 * at once. Requires the role `admin`.
 */
export const rotateWebhookSecret = endpoint({
  request: { path: v.object({ webhookUid: PathId }) },
  reply: { 200: RotateSecretResponse },
  async run({ path, principal, header }, ports: WebhookPorts) {
    const teams = requireAdministeredTeams(principal);
    const once = toIdempotentRequest(header, principal, `rotate-secret:${path.webhookUid}`, "");
    const { owner, secret, expiresAt, replayed } = await rotateSecret(teams, path.webhookUid, once, ports);
    const previous_secret_expires_at = toTimestamp(expiresAt);
    const body = { ...toWebhookItem(owner, ports.now()), previous_secret_expires_at, secret };
    return { status: 200, body, headers: toReplayHeaders(replayed) };
  },
});
