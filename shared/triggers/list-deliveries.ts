import type { PageQuery } from "#shared/pagination/page.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import type { ListTriggerDeliveriesResponse } from "#shared/wire/triggers/trigger.ts";
import { deliveryStore, toDeliveryItem } from "./delivery-store.ts";
import type { TriggerReadPorts } from "./trigger-ports.ts";
import type { Trigger } from "./trigger-store.ts";

/** Deliveries of one page. */
const MAX_ITEMS = 500;

/** Reads a page of the deliveries to a trigger, newest first. */
export async function readTriggerDeliveries(
  { uid }: Trigger,
  { limit: given, cursor }: PageQuery,
  principal: Principal,
  { table, cursors, now }: TriggerReadPorts,
): Promise<ListTriggerDeliveriesResponse> {
  const binding = ["trigger-deliveries", toPrincipalKey(principal), uid];
  const before = cursor === undefined ? undefined : await cursors.read(binding, cursor);
  const limit = given ?? MAX_ITEMS;
  // One more than the page holds shows whether there is a next page.
  const found = await deliveryStore(table).page(uid, before, limit + 1);
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  const next = last === undefined ? undefined : await cursors.write(binding, last.delivery_id);
  const isPaged = next !== undefined || given !== undefined || cursor !== undefined;
  return {
    deliveries: items.filter(({ expires_at }) => expires_at * 1000 > now()).map(toDeliveryItem),
    ...(isPaged
      ? { page_info: { has_next_page: next !== undefined, ...(next === undefined ? {} : { next_cursor: next }) } }
      : {}),
  };
}
