import * as v from "valibot";
import type { DeliveryRef } from "#shared/queue/event-queue.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { eventShards, keys, shardOfEvent, sortableTime } from "#shared/table/keys.ts";
import { readShards } from "#shared/table/read-shards.ts";
import type { Item, Put, Table } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { TriggerDelivery } from "#shared/wire/triggers/delivery.ts";
import type { TriggerOutcome } from "#shared/wire/triggers/trigger.ts";
import type { ReceivedEvent } from "./event.ts";

/** Seconds for which deliveries are kept, and for which a repeated one counts as a duplicate. */
const KEPT_SECONDS = 30 * 24 * 3600;

/** Milliseconds after which a decision is requested again, in case that its message is lost. */
const FIRST_CHECK_MS = 90_000;

const { received_at: _, attempts: __, ...members } = TriggerDelivery.entries;
const Delivery = v.object({
  ...members,
  received_at: v.number(),
  /** Decisions so far. Those of earlier versions are not stored. */
  attempts: v.optional(v.number(), 1),
  expires_at: v.number(),
});
export type Delivery = v.InferOutput<typeof Delivery>;
/** A delivery without an outcome. */
export type NewDelivery = Omit<Delivery, "expires_at" | "attempts" | "outcome">;
/** What a delivery resulted in. */
export type DeliveryOutcome = Pick<
  Delivery,
  "reason" | "detail" | "run_id" | "followup_id" | "of" | "missing_values"
> & { readonly outcome: TriggerOutcome };

const toExpiry = (now: number): number => Math.ceil(now / 1000) + KEPT_SECONDS;
/** The attributes by which the next decision is found. */
const dueAt = (delivery: string, at: number) => ({ check_shard: shardOfEvent(delivery), check_at: sortableTime(at) });

/** The write of a new delivery: with its outcome, or due for a decision. */
const putNew = (trigger: string, delivery: NewDelivery, outcome: DeliveryOutcome | undefined): Put => ({
  kind: "put",
  item: {
    ...keys.triggerDelivery(trigger, delivery.delivery_id),
    v: 1,
    ...delivery,
    ...(outcome === undefined
      ? { attempts: 0, ...dueAt(delivery.delivery_id, delivery.received_at + FIRST_CHECK_MS) }
      : { attempts: 1, ...outcome }),
    expires_at: toExpiry(delivery.received_at),
  },
  if: { pk: { exists: false } },
});

const UNDECIDED = { pk: { exists: true }, outcome: { exists: false } } as const;

/** The write of a delivery's outcome; its condition fails where it has one. */
export function putOutcome(trigger: string, delivery: Delivery, outcome: DeliveryOutcome): Put {
  const { will_retry: _retry, detail: _detail, ...facts } = delivery;
  const item = { ...keys.triggerDelivery(trigger, delivery.delivery_id), v: 1, ...facts, ...outcome };
  return { kind: "put", item: { ...item, attempts: delivery.attempts + 1 }, if: UNDECIDED };
}

type Digests = ReceivedEvent["digests"];

/** Whether a repetition of the event by its sender may have another outcome. */
const isRepeatable = ({ outcome, reason }: Delivery): boolean =>
  outcome === "failed" || (outcome === "ignored" && reason === "paused");

/** The writes by which an event has one outcome: their conditions fail where another delivery of it was received. */
export interface EventClaim {
  readonly event: Put;
  readonly sameBody: Put | undefined;
}

/** The write that claims an event for a delivery, in the place of one whose claim may be replaced. */
const putClaim = (trigger: string, digest: string, delivery: NewDelivery, replaced: string | undefined): Put => ({
  kind: "put",
  item: {
    ...keys.receivedEvent(trigger, digest),
    v: 1,
    delivery_id: delivery.delivery_id,
    expires_at: toExpiry(delivery.received_at),
  },
  if: replaced === undefined ? { pk: { exists: false } } : { delivery_id: { eq: replaced } },
});

/** The deliveries to triggers. */
export const deliveryStore = (table: Table) => ({
  /**
   * Looks for an earlier delivery of an event: `of` is the one that this delivery repeats. After one that failed or found the
   * trigger paused, the event can be claimed again.
   */
  async claim(
    trigger: string,
    digests: Digests,
    delivery: NewDelivery,
  ): Promise<{ readonly of: string } | { readonly claim: EventClaim }> {
    const items = await batchGetAll(
      digests.map((digest) => keys.receivedEvent(trigger, digest)),
      table,
    );
    const claimed = items.map((item) => (item === undefined ? undefined : String(item["delivery_id"])));
    for (const id of new Set(claimed.filter((one) => one !== undefined))) {
      const earlier = await this.get(trigger, id);
      if (earlier === undefined || !isRepeatable(earlier)) return { of: id };
    }
    const [first, second] = digests;
    return {
      claim: {
        event: putClaim(trigger, first, delivery, claimed[0]),
        sameBody: second === undefined ? undefined : putClaim(trigger, second, delivery, claimed[1]),
      },
    };
  },

  /**
   * Adds a delivery together with other writes: with its outcome, or due for a decision.
   * @throws ConflictError naming those whose conditions failed
   */
  add: (trigger: string, delivery: NewDelivery, outcome?: DeliveryOutcome, also: NamedWrites = {}): Promise<void> =>
    transact(table, { ...also, delivery: putNew(trigger, delivery, outcome) }),

  /**
   * Writes the outcome of a delivery that creates nothing, together with other writes.
   * @throws ConflictError naming `delivery` if it has one
   */
  decide: (trigger: string, delivery: Delivery, outcome: DeliveryOutcome, also: NamedWrites = {}): Promise<void> =>
    transact(table, { ...also, delivery: putOutcome(trigger, delivery, outcome) }),

  /** Has a delivery decided again later; does nothing where it has an outcome. */
  async postpone(
    trigger: string,
    { delivery_id }: Delivery,
    { attempts, detail, nextAt }: { readonly attempts: number; readonly detail: string; readonly nextAt: number },
  ): Promise<void> {
    const set = { attempts, detail, will_retry: true, ...dueAt(delivery_id, nextAt) };
    await writeIf(table, { kind: "update", key: keys.triggerDelivery(trigger, delivery_id), set, if: UNDECIDED });
  },

  /** The deliveries whose decision is due, the longest due first. */
  async findDue(now: number, limit: number): Promise<DeliveryRef[]> {
    const { items } = await readShards(eventShards, { to: sortableTime(now), limit }, table);
    return items.map(({ pk, sk }) => ({
      trigger_uid: pk.slice(pk.indexOf("#") + 1),
      delivery_id: sk.slice(sk.indexOf("#") + 1),
    }));
  },

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
});

/** A delivery as it is before the first decision on it. */
export const toNewDeliveryItem = ({
  delivery_id,
  external_id,
  event_type,
  action,
  received_at,
  redelivery_of,
}: NewDelivery): TriggerDelivery => ({
  delivery_id,
  ...(external_id === undefined ? {} : { external_id }),
  event_type,
  ...(action === undefined ? {} : { action }),
  received_at: toTimestamp(received_at),
  ...(redelivery_of === undefined ? {} : { redelivery_of }),
  attempts: 0,
});
