import * as v from "valibot";
import { type PublicPorts, rawEndpoint } from "#shared/http/endpoint.ts";
import { receiveDelivery } from "#shared/triggers/receive.ts";
import type { IngressPorts } from "#shared/triggers/trigger-ports.ts";
import { ReceivedDelivery } from "#shared/wire/triggers/delivery.ts";

/**
 * POST /hooks/{triggerUid}: accepts an event for a trigger. The sender signs the request as the trigger's kind or
 * verification requires. The question that Slack asks about a new URL gets its `challenge`. The event is decided on afterwards.
 */
export const receiveEvent = rawEndpoint({
  request: { path: v.object({ triggerUid: v.string() }) },
  reply: { 200: ReceivedDelivery },
  errors: ["authentication_required"],
  async run({ path, body, header }, ports: IngressPorts & PublicPorts) {
    return { status: 200, body: await receiveDelivery(path.triggerUid, { body, header }, ports) };
  },
});
