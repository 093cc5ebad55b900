import { notFound, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import type { RateLimitToken } from "#shared/limits/token-bucket.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { TriggerDelivery, TriggerDeliveryDetails } from "#shared/wire/triggers/trigger.ts";
import { decide, toFacts } from "./decide.ts";
import { claimEvent, deliveryStore, toDeliveryItem } from "./delivery-store.ts";
import type { ReceivedEvent } from "./event.ts";
import { eventStore } from "./event-store.ts";
import type { DeliveryPorts } from "./trigger-ports.ts";
import type { Trigger } from "./trigger-store.ts";

/** Bytes of a payload up to which a response contains it. */
const MAX_SHOWN_BYTES = 3_500_000;
const MAX_ATTEMPTS = 5;

/** Reads a delivery with the payload of its event; a duplicate has that of the delivery that it repeats. */
export async function readDelivery(
  { uid }: Trigger,
  deliveryId: string,
  { table, files, now }: DeliveryPorts,
): Promise<TriggerDeliveryDetails> {
  const delivery = await deliveryStore(table).get(uid, deliveryId);
  if (delivery === undefined || delivery.expires_at * 1000 <= now()) throw notFound("delivery");
  const payload = (await eventStore(files).get(uid, delivery.of ?? deliveryId))?.payload;
  const isShown = payload !== undefined && Buffer.byteLength(JSON.stringify(payload)) <= MAX_SHOWN_BYTES;
  return { ...toDeliveryItem(delivery), ...(isShown ? { payload } : {}) };
}

interface Redelivered {
  readonly delivery: TriggerDelivery;
  readonly replayed: boolean;
}

/**
 * Delivers the event of a delivery again, by the trigger as it is now. The new delivery has an outcome of its own, whatever the
 * earlier ones had.
 */
export async function redeliverEvent(
  trigger: Trigger,
  deliveryId: string,
  once: IdempotentRequest,
  rateLimitToken: RateLimitToken,
  ports: RunPorts,
): Promise<Redelivered> {
  const store = deliveryStore(ports.table);
  const read = async (id: string): Promise<TriggerDelivery> => {
    const delivery = await store.get(trigger.uid, id);
    if (delivery === undefined) throw notFound("delivery");
    return toDeliveryItem(delivery);
  };
  return runIdempotent<Redelivered>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      const { of = deliveryId } = await read(deliveryId);
      const event = await eventStore(ports.files).get(trigger.uid, of);
      if (event === undefined) throw notFound("event of this delivery");
      const facts = { ...toFacts(event, ports.now()), redelivery_of: deliveryId };
      await eventStore(ports.files).add(trigger.uid, facts.delivery_id, event);
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        try {
          const claim = await findClaim(trigger, event, facts.delivery_id, ports);
          const writes = { ...claim, idempotency: record(facts.delivery_id), rateLimitToken };
          await decide(facts, trigger, event, writes, ports);
          return { delivery: await read(facts.delivery_id), replayed: false };
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error;
          if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
        }
      }
      throw retryableConflict("the event is delivered by other requests; send the request again");
    },
    async (id) => ({ delivery: await read(id), replayed: true }),
  );
}

/** The claim of an event that has none, such as that of a paused trigger, so that a repetition by the sender is a duplicate. */
async function findClaim({ uid }: Trigger, { digests }: ReceivedEvent, delivery: string, { table, now }: RunPorts) {
  const first = await deliveryStore(table).findFirst(uid, digests);
  return first === undefined ? { claim: claimEvent(uid, digests, delivery, now()) } : {};
}
