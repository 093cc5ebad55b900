import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { changeTrigger } from "#shared/triggers/change-trigger.ts";
import { requireOwners } from "#shared/triggers/read-trigger.ts";
import type { TriggerWritePorts } from "#shared/triggers/trigger-ports.ts";
import { toTriggerItem } from "#shared/triggers/triggers.ts";
import { TriggerItem, UpdateTriggerRequest } from "#shared/wire/triggers/trigger.ts";

/**
 * PUT /agent/triggers/{triggerUid}: updates a trigger. Absent members keep their values; an empty value (`""`, `[]` or `{}`)
 * clears one. Deliveries to a disabled trigger are recorded and start no run. Requires the role `admin`, unless the trigger is
 * personal.
 */
export const updateTrigger = endpoint({
  request: { path: v.object({ triggerUid: PathId }), body: UpdateTriggerRequest },
  reply: { 200: TriggerItem },
  errors: ["operation_not_supported", "feature_not_available"],
  async run({ path, body, sentBody, principal }, ports: TriggerWritePorts) {
    const owners = await requireOwners(principal, path.triggerUid, ports.table);
    refuseUnsupportedOptions(sentBody, "triggers");
    const trigger = await changeTrigger(owners, path.triggerUid, { body, sentBody }, requirePerson(principal), ports);
    return { status: 200, body: toTriggerItem(trigger, ports) };
  },
});
