import { endpoint } from "#shared/http/endpoint.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { readLastDelivery } from "#shared/triggers/list-deliveries.ts";
import { listManagedTriggers } from "#shared/triggers/read-trigger.ts";
import type { TriggerReadPorts } from "#shared/triggers/trigger-ports.ts";
import { toTriggerItem } from "#shared/triggers/triggers.ts";
import { ListTriggersResponse } from "#shared/wire/triggers/trigger.ts";

/**
 * GET /agent/triggers: lists the triggers that the caller manages, oldest first. These are the triggers of teams, for which the role
 * `admin` is required, and then the personal ones.
 */
export const listTriggers = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListTriggersResponse },
  async run({ query, principal }, ports: TriggerReadPorts) {
    const { triggers, owners } = await listManagedTriggers(principal, ports.table);
    const all = await Promise.all(
      triggers.map(async (trigger) => ({
        ...toTriggerItem(trigger, ports),
        ...(await readLastDelivery(trigger, ports)),
      })),
    );
    const binding = ["triggers", toPrincipalKey(principal), owners];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { triggers: items, ...page } };
  },
});
