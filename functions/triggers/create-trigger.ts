import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireAdmin, requirePerson } from "#shared/principals/require-role.ts";
import { resolveOwner } from "#shared/principals/resolve-owner.ts";
import type { TriggerPorts } from "#shared/triggers/trigger-ports.ts";
import { addTrigger, toTriggerItem } from "#shared/triggers/triggers.ts";
import { CreatedTrigger, CreateTriggerRequest } from "#shared/wire/triggers/trigger.ts";

/**
 * POST /agent/triggers: creates a trigger, which turns events of another system into runs. The response contains the
 * secret, which is never shown again, and the URL for the other system. A team or a person can have at most 50 triggers.
 * Requires the role `admin`, unless the trigger is personal.
 */
export const createTrigger = endpoint({
  request: { body: CreateTriggerRequest },
  reply: { 201: CreatedTrigger },
  errors: ["operation_not_supported", "feature_not_available"],
  async run({ body, sentBody, principal, header }, ports: TriggerPorts) {
    const person = requirePerson(principal);
    const owner = resolveOwner(body.team === undefined ? {} : { team: body.team }, person);
    if (owner.type === "Team") requireAdmin(owner.uid, person);
    refuseUnsupportedOptions(sentBody, "triggers");
    const idempotency = toIdempotentRequest(header, principal, `create-trigger:${owner.uid}`, body);
    const { trigger, secret, replayed } = await addTrigger(owner, body, person, idempotency, ports);
    return { status: 201, body: { ...toTriggerItem(trigger, ports), secret }, headers: toReplayHeaders(replayed) };
  },
});
