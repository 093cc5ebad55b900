import * as v from "valibot";
import { splitIntoBatches } from "#shared/arrays.ts";
import { RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import type { PageQuery } from "#shared/pagination/page.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import {
  type DeliveryItem,
  type DeliveryState,
  type ListDeliveriesResponse,
  RedeliverResponse,
} from "#shared/wire/webhooks/webhook.ts";
import { type Delivery, deliveryStore } from "./delivery-store.ts";
import type { WebhookReadPorts } from "./webhook-ports.ts";
import type { Webhook } from "./webhook-store.ts";

/** Items of one page, and of one read; a search for one state reads this many times at most. */
const MAX_ITEMS = 500;
const MAX_READS = 10;
/** Deliveries that one request sends again, and those that are written at the same time. */
const MAX_REDELIVERED = 500;
const WRITTEN_AT_ONCE = 25;

interface DeliveryQuery extends PageQuery {
  readonly state: DeliveryState | undefined;
  readonly sort_order: "asc" | "desc" | undefined;
}

/** Reads a page of the deliveries of a webhook, newest first unless the query says otherwise. A page of one state may be short and not the last. */
export async function readDeliveryPage(
  { uid }: Webhook,
  { state, sort_order, limit: given, cursor }: DeliveryQuery,
  principal: Principal,
  { table, cursors, now }: WebhookReadPorts,
): Promise<ListDeliveriesResponse> {
  const isAscending = sort_order === "asc";
  const binding = ["deliveries", toPrincipalKey(principal), uid, state ?? "", ...(isAscending ? ["asc"] : [])];
  const limit = given ?? MAX_ITEMS;
  const items: Delivery[] = [];
  let last = cursor === undefined ? undefined : Number(await cursors.read(binding, cursor));
  let more = true;
  for (let read = 0; read < MAX_READS && more && items.length < limit; read++) {
    // One more than the page holds shows whether there is a next page.
    const size = state === undefined ? limit + 1 : MAX_ITEMS;
    const range = isAscending ? { from: (last ?? 0) + 1 } : { before: last };
    const page = await deliveryStore(table).page(uid, range, size);
    const alive = page.filter(({ expires_at }) => expires_at * 1000 > now());
    const matching = alive.filter((delivery) => state === undefined || delivery.state === state);
    const pagePart = matching.slice(0, limit - items.length);
    items.push(...pagePart);
    const isCut = pagePart.length < matching.length;
    more = isCut || page.length === size;
    last = (isCut ? pagePart : page).at(-1)?.sequence ?? last;
  }
  const next = more && last !== undefined ? await cursors.write(binding, String(last)) : undefined;
  const isPaged = next !== undefined || given !== undefined || cursor !== undefined;
  return {
    deliveries: items.map(toDeliveryItem),
    ...(isPaged
      ? { page_info: { has_next_page: next !== undefined, ...(next === undefined ? {} : { next_cursor: next }) } }
      : {}),
  };
}

interface Redelivered {
  readonly response: RedeliverResponse;
  readonly replayed: boolean;
}

/**
 * Makes the deliveries from a number on pending again, up to 500: they are attempted within a minute. The record of the request is
 * written last, since to do this twice is harmless.
 */
export function redeliver(
  webhook: Webhook,
  from: number,
  once: IdempotentRequest,
  { table, now }: Pick<WebhookReadPorts, "table" | "now">,
): Promise<Redelivered> {
  return runIdempotent<Redelivered>(
    table,
    once,
    now,
    async (record) => {
      if (!webhook.enabled) {
        throw new RunyardError("conflict", { detail: "the webhook is disabled: enable it first", retryable: false });
      }
      const response = await restartFrom(webhook.uid, from, table, now());
      try {
        await table.write(record(JSON.stringify(response)));
      } catch (error) {
        throw error instanceof ConditionFailed ? new IdempotencyRecordExists() : error;
      }
      return { response, replayed: false };
    },
    async (kept) => ({ response: v.parse(Kept, kept), replayed: true }),
    { checkFirst: true },
  );
}

const Kept = v.pipe(v.string(), v.parseJson(), RedeliverResponse);

async function restartFrom(uid: string, from: number, table: Table, now: number): Promise<RedeliverResponse> {
  const store = deliveryStore(table);
  const found = await store.page(uid, { from }, MAX_REDELIVERED + 1);
  const next = found[MAX_REDELIVERED];
  let redelivered = 0;
  for (const some of splitIntoBatches(found.slice(0, MAX_REDELIVERED), WRITTEN_AT_ONCE)) {
    const restarted = await Promise.all(some.map((delivery) => store.restart(delivery, now)));
    redelivered += restarted.filter((isRestarted) => isRestarted).length;
  }
  return { redelivered, ...(next === undefined ? {} : { next_sequence: next.sequence }) };
}

/** A delivery as responses show it. */
const toDeliveryItem = ({ type, check_at, attempts, ...delivery }: Delivery): DeliveryItem => ({
  sequence: delivery.sequence,
  event_type: type,
  ...toSubject(delivery),
  state: delivery.state,
  created_at: toTimestamp(delivery.created_at),
  ...(check_at === undefined ? {} : { next_attempt_at: toTimestamp(Number(check_at)) }),
  attempts: attempts.map(({ at, ...attempted }) => ({ attempted_at: toTimestamp(at), ...attempted })),
});

type Subject = "run_id" | "run_sequence" | "trigger_uid" | "schedule_id";

/** What the event of a delivery is about. */
const toSubject = ({
  run_id,
  run_sequence,
  trigger_uid,
  schedule_id,
}: Pick<Delivery, Subject>): Pick<DeliveryItem, Subject> => ({
  ...(run_id === undefined ? {} : { run_id }),
  ...(run_sequence === undefined ? {} : { run_sequence }),
  ...(trigger_uid === undefined ? {} : { trigger_uid }),
  ...(schedule_id === undefined ? {} : { schedule_id }),
});
