import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { readDelivery } from "#shared/triggers/redeliver.ts";
import type { DeliveryPorts } from "#shared/triggers/trigger-ports.ts";
import { readTriggerOfPerson } from "#shared/triggers/triggers.ts";
import { TriggerDeliveryDetails } from "#shared/wire/triggers/delivery.ts";

/**
 * GET /agent/triggers/{triggerUid}/deliveries/{deliveryId}: returns a delivery to a trigger with its payload. Requires the
 * role `admin`, or to have created the trigger.
 */
export const getTriggerDelivery = endpoint({
  request: { path: v.object({ triggerUid: PathId, deliveryId: PathId }) },
  reply: { 200: TriggerDeliveryDetails },
  async run({ path, principal }, ports: DeliveryPorts) {
    const trigger = await readTriggerOfPerson(path.triggerUid, principal, ports.table);
    return { status: 200, body: await readDelivery(trigger, path.deliveryId, ports) };
  },
});
