import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { refuseLimitedKey } from "#shared/principals/key-budget.ts";
import { readManagedTrigger } from "#shared/triggers/read-trigger.ts";
import { redeliverEvent as redeliver } from "#shared/triggers/redeliver.ts";
import type { RequestPorts } from "#shared/triggers/trigger-ports.ts";
import { TriggerDelivery } from "#shared/wire/triggers/delivery.ts";

/**
 * POST /agent/triggers/{triggerUid}/deliveries/{deliveryId}/redeliver: sends the event of a delivery to its trigger again. The
 * trigger decides after the response, as it is then. The new delivery has an outcome of its own, and the earlier one keeps its
 * outcome. Requires the role `admin`, unless the trigger is personal.
 */
export const redeliverEvent = endpoint({
  request: { path: v.object({ triggerUid: PathId, deliveryId: PathId }) },
  reply: { 200: TriggerDelivery },
  rateLimit: "create",
  async run({ path, principal, header, rateLimitToken }, ports: RequestPorts) {
    const { triggerUid, deliveryId } = path;
    // The run would not count toward the limits of the key.
    refuseLimitedKey(principal, "redeliveries");
    const trigger = await readManagedTrigger(principal, triggerUid, ports.table);
    const once = toIdempotentRequest(header, principal, `redeliver-event:${triggerUid}`, deliveryId);
    const { delivery, replayed } = await redeliver(trigger, deliveryId, once, rateLimitToken, ports);
    return { status: 200, body: delivery, headers: toReplayHeaders(replayed) };
  },
});
