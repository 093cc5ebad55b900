import * as v from "valibot";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Table } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { TriggerDelivery, TriggerOutcome } from "#shared/wire/triggers/trigger.ts";
import type { ReceivedEvent } from "./event.ts";

/** Seconds for which deliveries are kept, and for which a repeated one counts as a duplicate. */
const KEPT_SECONDS = 30 * 24 * 3600;

const { received_at: _, attempts: __, outcome: ___, ...members } = TriggerDelivery.entries;
const Delivery = v.object({ ...members, outcome: TriggerOutcome, received_at: v.number(), expires_at: v.number() });
type Delivery = v.InferOutput<typeof Delivery>;
/** A delivery with its outcome, which is written once. */
export type NewDelivery = Omit<Delivery, "expires_at">;

const toExpiry = (now: number): number => Math.ceil(now / 1000) + KEPT_SECONDS;

/** The write of a delivery. */
export const putDelivery = (trigger: string, delivery: NewDelivery): Put => ({
  kind: "put",
  item: {
    ...keys.triggerDelivery(trigger, delivery.delivery_id),
    v: 1,
    ...delivery,
    expires_at: toExpiry(delivery.received_at),
  },
  if: { pk: { exists: false } },
});

type Digests = ReceivedEvent["digests"];
export type EventClaim = ReturnType<typeof claimEvent>;

/** The writes by which an event has one outcome: their conditions fail where the event was received before. */
export function claimEvent(trigger: string, [first, second]: Digests, delivery: string, now: number) {
  const claim = (digest: string): Put => ({
    kind: "put",
    item: { ...keys.receivedEvent(trigger, digest), v: 1, delivery_id: delivery, expires_at: toExpiry(now) },
    if: { pk: { exists: false } },
  });
  return { event: claim(first), sameBody: second === undefined ? undefined : claim(second) };
}

/** The deliveries to triggers. */
export const deliveryStore = (table: Table) => ({
  /** The first delivery of an event that had an outcome which a repetition does not change. */
  async findFirst(trigger: string, digests: Digests): Promise<string | undefined> {
    const items = await batchGetAll(
      digests.map((digest) => keys.receivedEvent(trigger, digest)),
      table,
    );
    const item = items.find((one) => one !== undefined);
    return item === undefined ? undefined : String(item["delivery_id"]);
  },

  /**
   * Adds a delivery together with other writes.
   * @throws ConflictError naming those whose conditions failed
   */
  add: (trigger: string, delivery: NewDelivery, also: Readonly<Record<string, Put | undefined>> = {}): Promise<void> =>
    transact(table, { ...also, delivery: putDelivery(trigger, delivery) }),

  async get(trigger: string, id: string): Promise<Delivery | undefined> {
    const item = await table.get(keys.triggerDelivery(trigger, id));
    return item === undefined ? undefined : v.parse(Delivery, item);
  },

  /** Reads deliveries before an id, newest first. */
  async page(trigger: string, before: string | undefined, limit: number): Promise<Delivery[]> {
    const { pk, sk: prefix } = keys.triggerDelivery(trigger, "");
    const range = before === undefined ? {} : { before: keys.triggerDelivery(trigger, before).sk };
    const { items } = await table.query({ pk, prefix, descending: true, limit, ...range });
    return items.map((item: Item) => v.parse(Delivery, item));
  },
});

/** A delivery as responses show it. */
export const toDeliveryItem = ({ received_at, expires_at: _expires, ...delivery }: Delivery): TriggerDelivery => ({
  ...delivery,
  received_at: toTimestamp(received_at),
  attempts: 1,
});
