import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { readMember, refuseUnsupportedMembers } from "#shared/http/unsupported-members.ts";
import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { changeTrigger } from "#shared/triggers/change-trigger.ts";
import { readTrigger, requireOwners } from "#shared/triggers/read-trigger.ts";
import type { TriggerWritePorts } from "#shared/triggers/trigger-ports.ts";
import type { Trigger } from "#shared/triggers/trigger-store.ts";
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
    if (FIXED.some((name) => readMember(sentBody, name) !== undefined))
      refuseOtherSystem(sentBody, await readTrigger(owners, path.triggerUid, ports.table));
    const trigger = await changeTrigger(owners, path.triggerUid, body, requirePerson(principal), ports);
    return { status: 200, body: toTriggerItem(trigger, ports) };
  },
});

/** What says which system sends the events. A client may send back what it has read. */
const FIXED = ["kind", "preset"] as const;

/** @throws RunyardError 422 if the request names another system than that of the trigger, which stays */
function refuseOtherSystem(sentBody: unknown, trigger: Trigger): void {
  const toRule = (name: (typeof FIXED)[number]) => ({
    supported: (value: unknown) => value === trigger[name],
    remedy: `leave it out: it stays ${trigger[name] ?? "absent"}; create another trigger for another system`,
  });
  refuseUnsupportedMembers(
    sentBody,
    Object.fromEntries(FIXED.map((name) => [name, toRule(name)])),
    "changes of a trigger",
  );
}
