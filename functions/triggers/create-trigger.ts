import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import type { TriggerPorts } from "#shared/triggers/trigger-ports.ts";
import { addTrigger, toTriggerItem } from "#shared/triggers/triggers.ts";
import { CreatedTrigger, CreateTriggerRequest } from "#shared/wire/triggers/trigger.ts";

/**
 * POST /agent/triggers: creates a trigger, which turns events of another system into runs. The response contains the
 * secret, which is never shown again, and the URL for the other system. A team can have at most 50 triggers. Requires the
 * role `admin`.
 */
export const createTrigger = endpoint({
  request: { body: CreateTriggerRequest },
  reply: { 201: CreatedTrigger },
  errors: ["operation_not_supported", "feature_not_available"],
  async run({ body, sentBody, principal, header }, ports: TriggerPorts) {
    const team = requireTeam(principal);
    const admin = requireAdmin(team, principal);
    refuseUnsupportedOptions(sentBody, "triggers");
    const idempotency = toIdempotentRequest(header, principal, `create-trigger:${team}`, body);
    const { trigger, secret, replayed } = await addTrigger(team, body, admin, idempotency, ports);
    return { status: 201, body: { ...toTriggerItem(trigger, ports), secret }, headers: toReplayHeaders(replayed) };
  },
});
