import { endpoint } from "#shared/http/endpoint.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import { readLastDelivery } from "#shared/triggers/list-deliveries.ts";
import type { TriggerReadPorts } from "#shared/triggers/trigger-ports.ts";
import { triggerStore } from "#shared/triggers/trigger-store.ts";
import { toTriggerItem } from "#shared/triggers/triggers.ts";
import { ListTriggersResponse } from "#shared/wire/triggers/trigger.ts";

/** GET /agent/triggers: lists a team's triggers, oldest first. Requires the role `admin`. */
export const listTriggers = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListTriggersResponse },
  async run({ query, principal }, ports: TriggerReadPorts) {
    const teams = requireAdministeredTeams(principal);
    const all = await Promise.all(
      (await triggerStore(ports.table).list(teams)).map(async (trigger) => ({
        ...toTriggerItem(trigger, ports),
        ...(await readLastDelivery(trigger, ports)),
      })),
    );
    const binding = ["triggers", toPrincipalKey(principal), teams];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { triggers: items, ...page } };
  },
});
