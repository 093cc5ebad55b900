import type { PageQuery } from "#shared/pagination/page.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import type { Table } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { ListTriggerDeliveriesResponse } from "#shared/wire/triggers/delivery.ts";
import type { DeliveryCounts, LastDelivery, TriggerItem, TriggerOutcome } from "#shared/wire/triggers/trigger.ts";
import { deliveryStore, toDeliveryItem } from "./delivery-store.ts";
import type { TriggerReadPorts } from "./trigger-ports.ts";
import type { Trigger } from "./trigger-store.ts";

/** Deliveries of one page. */
const MAX_ITEMS = 500;
/** Queries of one request for deliveries with an outcome, which may be rare. */
const MAX_QUERIES = 10;
/** Deliveries that are counted. */
const MAX_COUNTED = 1000;
const DAY_MS = 24 * 3_600_000;

type Outcome = TriggerOutcome;

/** Reads a trigger's latest delivery, and its deliveries of a day by outcome. */
export async function readDeliveryCounts(
  { uid }: Trigger,
  { table, now }: Pick<TriggerReadPorts, "table" | "now">,
): Promise<Pick<TriggerItem, "last_delivery" | "counts_24h">> {
  const deliveries = await deliveryStore(table).page(uid, undefined, MAX_COUNTED);
  const counts_24h: DeliveryCounts = { started: 0, followed_up: 0, ignored: 0, duplicate: 0, failed: 0 };
  for (const { outcome, received_at } of deliveries) {
    if (outcome !== undefined && received_at > now() - DAY_MS) counts_24h[outcome]++;
  }
  return { ...toLastDelivery(deliveries), counts_24h };
}

/** Reads a trigger's latest delivery. */
export const readLastDelivery = async (
  { uid }: Trigger,
  { table }: Pick<TriggerReadPorts, "table">,
): Promise<Pick<TriggerItem, "last_delivery">> => toLastDelivery(await deliveryStore(table).page(uid, undefined, 1));

function toLastDelivery([last]: readonly { readonly received_at: number; readonly outcome?: Outcome }[]): {
  readonly last_delivery?: LastDelivery;
} {
  if (last === undefined) return {};
  const { received_at, outcome } = last;
  return { last_delivery: { at: toTimestamp(received_at), ...(outcome === undefined ? {} : { outcome }) } };
}

/** Reads a page of the deliveries to a trigger, newest first. */
export async function readTriggerDeliveries(
  { uid }: Trigger,
  { limit: given, cursor, outcome }: PageQuery & { readonly outcome: Outcome | undefined },
  principal: Principal,
  { table, cursors, now }: TriggerReadPorts,
): Promise<ListTriggerDeliveriesResponse> {
  const binding = ["trigger-deliveries", toPrincipalKey(principal), uid, outcome ?? ""];
  const before = cursor === undefined ? undefined : await cursors.read(binding, cursor);
  const limit = given ?? MAX_ITEMS;
  const { items, last } = await findDeliveries(uid, { before, limit, outcome }, table);
  const next = last === undefined ? undefined : await cursors.write(binding, last);
  const isPaged = next !== undefined || given !== undefined || cursor !== undefined;
  return {
    deliveries: items.filter(({ expires_at }) => expires_at * 1000 > now()).map(toDeliveryItem),
    ...(isPaged
      ? { page_info: { has_next_page: next !== undefined, ...(next === undefined ? {} : { next_cursor: next }) } }
      : {}),
  };
}

interface Search {
  readonly before: string | undefined;
  readonly limit: number;
  readonly outcome: Outcome | undefined;
}

/** Finds deliveries with an outcome, and the last one that was looked at if there are more. */
async function findDeliveries(uid: string, { before, limit, outcome }: Search, table: Table) {
  const items: Awaited<ReturnType<ReturnType<typeof deliveryStore>["page"]>> = [];
  let last = before;
  for (let query = 0; query < MAX_QUERIES; query++) {
    // One more than the page holds shows whether there is a next page.
    const found = await deliveryStore(table).page(uid, last, limit + 1);
    for (const delivery of found.slice(0, limit)) {
      if (items.length === limit) return { items, last };
      last = delivery.delivery_id;
      if (outcome === undefined || delivery.outcome === outcome) items.push(delivery);
    }
    if (found.length <= limit) return { items, last: undefined };
    if (items.length === limit) break;
  }
  return { items, last };
}
