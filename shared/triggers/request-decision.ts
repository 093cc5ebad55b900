import type { NamedWrites } from "#shared/table/transact.ts";
import { deliveryStore, type NewDelivery } from "./delivery-store.ts";
import type { ReceivedEvent } from "./event.ts";
import { eventStore } from "./event-store.ts";
import type { RequestPorts } from "./trigger-ports.ts";

/**
 * Stores a delivery with its event, together with other writes, and requests the decision on it. A decision whose request is lost is
 * found and requested again.
 * @throws ConflictError naming those of the other writes whose conditions failed
 */
export async function requestDecision(
  trigger: string,
  delivery: NewDelivery,
  event: ReceivedEvent,
  also: NamedWrites,
  { table, files, events }: RequestPorts,
): Promise<void> {
  const { delivery_id } = delivery;
  // The event first: what finds the delivery finds its event.
  await eventStore(files).add(trigger, delivery_id, event);
  await deliveryStore(table).add(trigger, delivery, undefined, also);
  await events.sendDelivery({ trigger_uid: trigger, delivery_id }).catch(() => undefined);
}
