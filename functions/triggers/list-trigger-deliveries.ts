import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { readTriggerDeliveries } from "#shared/triggers/list-deliveries.ts";
import { readManagedTrigger } from "#shared/triggers/read-trigger.ts";
import type { TriggerReadPorts } from "#shared/triggers/trigger-ports.ts";
import { ListTriggerDeliveriesResponse } from "#shared/wire/triggers/delivery.ts";
import { TriggerOutcome } from "#shared/wire/triggers/trigger.ts";

/**
 * GET /agent/triggers/{triggerUid}/deliveries: lists the deliveries to a trigger with their outcomes, newest first. Deliveries
 * are kept for 30 days. Requires the role `admin`, unless the trigger is personal.
 */
export const listTriggerDeliveries = endpoint({
  request: {
    path: v.object({ triggerUid: PathId }),
    query: {
      ...pageQuery,
      /** Selects deliveries by outcome. */
      outcome: one(TriggerOutcome),
    },
  },
  reply: { 200: ListTriggerDeliveriesResponse },
  async run({ path, query, principal }, ports: TriggerReadPorts) {
    const trigger = await readManagedTrigger(principal, path.triggerUid, ports.table);
    return { status: 200, body: await readTriggerDeliveries(trigger, query, principal, ports) };
  },
});
