import * as v from "valibot";
import { deliveryShards, keys, shardOfDelivery, sortableTime } from "#shared/table/keys.ts";
import { readShards } from "#shared/table/read-shards.ts";
import { type Item, type Key, type Put, type Table, type Update, valueUnchanged } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { DeliveryState, WebhookEventType } from "#shared/wire/webhooks/webhook.ts";
import type { DeliveryRef } from "./webhook-ports.ts";
import { countDeliveries, type Webhook } from "./webhook-store.ts";

/** Seconds for which deliveries are kept. */
const KEPT_SECONDS = 7 * 24 * 3600;

const Attempt = v.object({
  /** Milliseconds. */
  at: v.number(),
  duration_ms: v.number(),
  status_code: v.exactOptional(v.number()),
  error: v.exactOptional(v.string()),
});
export type Attempt = v.InferOutput<typeof Attempt>;

const Delivery = v.object({
  /** True for the delivery of a run's own `notify_url`: then `webhook_uid` is the run's id, and `sequence` the event's number. */
  of_run: v.exactOptional(v.literal(true)),
  webhook_uid: v.string(),
  /** The team of the webhook. */
  team_uid: v.exactOptional(v.string()),
  sequence: v.number(),
  run_id: v.exactOptional(v.string()),
  run_sequence: v.exactOptional(v.number()),
  trigger_uid: v.exactOptional(v.string()),
  schedule_id: v.exactOptional(v.string()),
  type: WebhookEventType,
  body: v.string(),
  state: DeliveryState,
  created_at: v.number(),
  /** When the first of the current attempts was requested: on creation, or by a request to send it again. */
  requested_at: v.number(),
  /** Attempts since then. */
  tries: v.number(),
  /** The latest attempts. */
  attempts: v.array(Attempt),
  /** Where it is pending: when it is attempted next, or again if the current attempt has no result. */
  check_at: v.exactOptional(v.string()),
  expires_at: v.number(),
});
export type Delivery = v.InferOutput<typeof Delivery>;

/** An event that is delivered; `toBody` gets the number of the delivery. */
interface NewEvent {
  readonly type: WebhookEventType;
  toBody(sequence: number): string;
}
/** An event of a run that is delivered. */
export interface NewRunDelivery extends NewEvent {
  readonly run_id: string;
  readonly run_sequence: number;
}
/** An event of a trigger or a schedule that is delivered. */
interface NewTeamDelivery extends NewEvent {
  readonly event_id: string;
  readonly trigger_uid?: string;
  readonly schedule_id?: string;
}
export type NewDelivery = NewRunDelivery | NewTeamDelivery;

const parseDelivery = (item: Item): Delivery => v.parse(Delivery, item);
const keyOf = ({ of_run, webhook_uid, sequence }: Pick<Delivery, "of_run" | "webhook_uid" | "sequence">): Key =>
  of_run === true ? keys.runDelivery(webhook_uid, sequence) : keys.delivery(webhook_uid, sequence);
/** The key of what tells that a webhook has a delivery of an event. */
const deliveredKey = (webhook: string, event: NewDelivery): Key =>
  "event_id" in event
    ? keys.deliveredTeamEvent(webhook, event.event_id)
    : keys.deliveredEvent(webhook, event.run_id, event.run_sequence);
const toExpiry = (now: number): number => Math.ceil(now / 1000) + KEPT_SECONDS;
/** The attributes by which the next attempt is found. */
const dueAt = ({ webhook_uid, sequence }: Pick<Delivery, "webhook_uid" | "sequence">, at: number) => ({
  check_shard: shardOfDelivery(webhook_uid, sequence),
  check_at: sortableTime(at),
});

/** The deliveries of webhooks. */
export const deliveryStore = (table: Table) => ({
  /** Whether each of these events has a delivery. */
  async findDelivered(webhook: string, events: readonly NewDelivery[]): Promise<boolean[]> {
    const items = await table.batchGet(events.map((event) => deliveredKey(webhook, event)));
    return items.map((item) => item !== undefined);
  },

  /**
   * Adds deliveries with the next numbers of the webhook, to be attempted again at `checkAt`. At most 49, since a transaction
   * has 100 writes.
   * @throws ConflictError if the webhook was changed since it was read, or an event has a delivery
   */
  async append(webhook: Webhook, events: readonly NewDelivery[], now: number, checkAt: number): Promise<DeliveryRef[]> {
    await transact(table, {
      webhook: countDeliveries(webhook, events.length),
      deliveries: events.map((event, index) => {
        const sequence = webhook.next_sequence + index;
        return putDelivery({ webhook_uid: webhook.uid, team_uid: webhook.team_uid, sequence }, event, { now, checkAt });
      }),
      events: events.map((event) => putNew({ ...deliveredKey(webhook.uid, event), v: 1, expires_at: toExpiry(now) })),
    });
    const check_at = sortableTime(checkAt);
    return events.map((_, index) => ({
      webhook_uid: webhook.uid,
      sequence: webhook.next_sequence + index,
      check_at,
    }));
  },

  /** Adds the delivery of an event to the `notify_url` of its run; undefined where the event has one. */
  async addOfRun(event: NewRunDelivery, now: number, checkAt: number): Promise<DeliveryRef | undefined> {
    const { run_id: webhook_uid, run_sequence: sequence } = event;
    const ids = { of_run: true, webhook_uid, sequence } as const;
    const isNew = await writeIf(table, putDelivery(ids, event, { now, checkAt }));
    return isNew ? { ...ids, check_at: sortableTime(checkAt) } : undefined;
  },

  /** Reads deliveries by number: from `from` upwards, or those before `before` downwards. */
  async page(
    webhook: string,
    range: { readonly from: number } | { readonly before: number | undefined },
    limit: number,
  ): Promise<Delivery[]> {
    const { pk, sk: first } = keys.delivery(webhook, 0);
    const prefix = first.slice(0, first.indexOf("#") + 1);
    const before = "before" in range ? range.before : undefined;
    const bounds =
      "from" in range
        ? { from: keys.delivery(webhook, range.from).sk, to: `${prefix}~` }
        : { prefix, descending: true, ...(before === undefined ? {} : { before: keys.delivery(webhook, before).sk }) };
    const { items } = await table.query({ pk, ...bounds, limit });
    return items.map(parseDelivery);
  },

  /** Makes a delivery pending again, with all attempts. Returns false where it has expired. */
  async restart(delivery: Delivery, now: number): Promise<boolean> {
    const again = { state: "pending", tries: 0, requested_at: now, ...dueAt(delivery, now), expires_at: toExpiry(now) };
    return writeIf(table, { kind: "update", key: keyOf(delivery), set: again, if: { pk: { exists: true } } });
  },
});

const putNew = (item: Item): Put => ({ kind: "put", item, if: { pk: { exists: false } } });

function putDelivery(
  ids: Pick<Delivery, "of_run" | "webhook_uid" | "team_uid" | "sequence">,
  { toBody, ...event }: NewDelivery,
  { now, checkAt }: { readonly now: number; readonly checkAt: number },
): Put {
  const state = { state: "pending", created_at: now, requested_at: now, tries: 0, attempts: [] };
  return putNew({
    ...keyOf(ids),
    v: 1,
    ...ids,
    ...event,
    body: toBody(ids.sequence),
    ...state,
    ...dueAt(ids, checkAt),
    expires_at: toExpiry(now),
  });
}

/** The attempts of deliveries. */
export const attemptStore = (table: Table) => ({
  /** Reads the deliveries whose attempt was not made yet. */
  async getMany(refs: readonly DeliveryRef[]): Promise<Delivery[]> {
    const refsById = new Map(refs.map((ref) => [formatId(ref), ref]));
    const items = refsById.size === 0 ? [] : await table.batchGet([...refsById.values()].map(keyOf));
    const deliveries = items.flatMap((item) => (item === undefined ? [] : [parseDelivery(item)]));
    return deliveries.filter((delivery) => refsById.get(formatId(delivery))?.check_at === delivery.check_at);
  },

  /** A page of the deliveries whose attempt is due, the longest due first; the next one begins after the last `check_at`. */
  async findDue(now: number, limit: number, after?: string): Promise<{ due: DeliveryRef[]; more: boolean }> {
    const range = { to: sortableTime(now), ...(after === undefined ? {} : { after }) };
    const { items, more } = await readShards(deliveryShards, { ...range, limit }, table);
    const due = items.map(({ pk, sk, check_at }) => {
      const webhook_uid = pk.slice(pk.indexOf("#") + 1);
      if (sk === keys.runReply("").sk) {
        return { is_reply: true, webhook_uid, sequence: 0, check_at: String(check_at) } as const;
      }
      return {
        ...(pk.startsWith(keys.runDelivery("", 0).pk) ? ({ of_run: true } as const) : {}),
        webhook_uid,
        sequence: Number(sk.slice(sk.indexOf("#") + 1)),
        check_at: String(check_at),
      };
    });
    return { due, more };
  },

  /** Claims a pending delivery for an attempt whose result comes until `until`; undefined where another attempt has it. */
  async claim(delivery: Delivery, until: number): Promise<Delivery | undefined> {
    if (delivery.check_at === undefined) return undefined;
    // Never the same time, by which the two attempts are told apart.
    const set = dueAt(delivery, Math.max(until, Number(delivery.check_at) + 1));
    return (await writeIf(table, updateUnchanged(delivery, { set }))) ? { ...delivery, ...set } : undefined;
  },

  /** Records the result of an attempt of a claimed delivery; does nothing where another attempt has it by now. */
  async record(
    claimed: Delivery,
    { state, tries, attempts }: Pick<Delivery, "state" | "tries" | "attempts">,
    nextAt?: number,
  ): Promise<void> {
    const result = { state, tries, attempts };
    const change =
      nextAt === undefined
        ? { set: result, remove: ["check_shard", "check_at"] }
        : { set: { ...result, ...dueAt(claimed, nextAt) } };
    await writeIf(table, updateUnchanged(claimed, change));
  },
});

/** The id of a delivery, which is the same for all its attempts. */
export const formatId = ({ webhook_uid, sequence }: Pick<Delivery, "webhook_uid" | "sequence">): string =>
  `${webhook_uid}-${sequence}`;

/** Changes a delivery under the condition that no other attempt has it since it was read. */
const updateUnchanged = (delivery: Delivery, change: Pick<Update, "set" | "remove">): Update => ({
  kind: "update",
  key: keyOf(delivery),
  ...change,
  if: { check_at: valueUnchanged(delivery.check_at) },
});
