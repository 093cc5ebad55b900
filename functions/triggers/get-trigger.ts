import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { readDeliveryCounts } from "#shared/triggers/list-deliveries.ts";
import { readManagedTrigger } from "#shared/triggers/read-trigger.ts";
import type { TriggerReadPorts } from "#shared/triggers/trigger-ports.ts";
import { readTriggerRuns } from "#shared/triggers/trigger-run-store.ts";
import { toTriggerItem } from "#shared/triggers/triggers.ts";
import { TriggerItem } from "#shared/wire/triggers/trigger.ts";

/**
 * GET /agent/triggers/{triggerUid}: returns a trigger with its outcomes of a day. Requires the role `admin`, unless the trigger
 * is personal.
 */
export const getTrigger = endpoint({
  request: { path: v.object({ triggerUid: PathId }) },
  reply: { 200: TriggerItem },
  async run({ path, principal }, ports: TriggerReadPorts) {
    const trigger = await readManagedTrigger(principal, path.triggerUid, ports.table);
    const [counts, recent_runs] = await Promise.all([
      readDeliveryCounts(trigger, ports),
      readTriggerRuns(trigger.uid, ports.table),
    ]);
    return { status: 200, body: { ...toTriggerItem(trigger, ports), ...counts, recent_runs } };
  },
});
