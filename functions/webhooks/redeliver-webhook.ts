import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { required } from "#shared/http/request.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import { redeliver } from "#shared/webhooks/deliveries.ts";
import type { WebhookReadPorts } from "#shared/webhooks/webhook-ports.ts";
import { readWebhook } from "#shared/webhooks/webhooks.ts";
import { RedeliverResponse } from "#shared/wire/webhooks/webhook.ts";

const Sequence = v.pipe(
  v.string(),
  v.regex(/^\d{1,9}$/, "must be a whole number"),
  v.transform(Number),
  v.minValue(1, "must be at least 1"),
  v.maxValue(999_999_999, "must be at most 999999999"),
);

/**
 * POST /agent/webhooks/{webhookUid}/redeliver: sends the deliveries from `from_sequence` on again, within a minute. One
 * request takes 500 deliveries; repeat it with the returned `next_sequence`. Requires the role `admin`.
 */
export const redeliverWebhook = endpoint({
  request: {
    path: v.object({ webhookUid: PathId }),
    query: {
      /** The number of the first delivery to send again. Required. */
      from_sequence: required(Sequence),
    },
  },
  reply: { 200: RedeliverResponse },
  async run({ path, query, principal, header }, ports: WebhookReadPorts) {
    const { from_sequence: from } = query;
    const webhook = await readWebhook(requireAdministeredTeams(principal), path.webhookUid, ports.table);
    const once = toIdempotentRequest(header, principal, `redeliver:${webhook.uid}`, from);
    const { response, replayed } = await redeliver(webhook, from, once, ports);
    return { status: 200, body: response, headers: toReplayHeaders(replayed) };
  },
});
