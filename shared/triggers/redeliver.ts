import { notFound } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { TriggerDelivery, TriggerDeliveryDetails } from "#shared/wire/triggers/delivery.ts";
import { toFacts } from "./decide.ts";
import { type Delivery, deliveryStore, toDeliveryItem, toNewDeliveryItem } from "./delivery-store.ts";
import { eventStore } from "./event-store.ts";
import { requestDecision } from "./request-decision.ts";
import type { DeliveryPorts, RequestPorts } from "./trigger-ports.ts";
import type { Trigger } from "./trigger-store.ts";

/** Bytes of a payload up to which a response contains it. */
const MAX_SHOWN_BYTES = 3_500_000;

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
 * Requests that the event of a delivery is decided on again, by the trigger as it is then. The new delivery has an outcome of its
 * own, whatever the earlier ones had.
 */
export async function redeliverEvent(
  trigger: Trigger,
  deliveryId: string,
  once: IdempotentRequest,
  rateLimitToken: RateLimitToken,
  ports: RequestPorts,
): Promise<Redelivered> {
  const store = deliveryStore(ports.table);
  const read = async (id: string): Promise<Delivery> => {
    const delivery = await store.get(trigger.uid, id);
    if (delivery === undefined) throw notFound("delivery");
    return delivery;
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
      const rateLimit = rateLimitToken(facts.received_at);
      await retryOnConflict("the event is", async () => {
        // From now on a repetition by the sender is a duplicate, also where the event had no outcome of its own.
        const found = await store.claim(trigger.uid, event.digests, facts);
        const writes = { ...("claim" in found ? found.claim : {}), idempotency: record(facts.delivery_id), rateLimit };
        await requestDecision(trigger.uid, facts, event, writes, ports).catch((error: unknown) => {
          if (!(error instanceof ConflictError)) throw error;
          if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
          throw error.failedOnly("rateLimit") ? rateLimited(facts.received_at) : error;
        });
      });
      return { delivery: toNewDeliveryItem(facts), replayed: false };
    },
    // The first response again, whatever has been decided since.
    async (id) => ({ delivery: toNewDeliveryItem(await read(id)), replayed: true }),
  );
}
