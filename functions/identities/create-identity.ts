import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { toIdentityItem } from "#shared/identities/identity-item.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { addIdentity } from "#shared/identities/write-identity.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import { CreateIdentityRequest, IdentityItem } from "#shared/wire/identity.ts";

/**
 * POST /agent/identities: creates an identity, a service account for an agent. The optional members are defaults for
 * the runs of the identity. Names are unique within the team; a name in use returns 409. A team that has reached its
 * `identity_limit` receives 403 `feature_not_available`. Requires a personal key.
 */
export const createIdentity = endpoint({
  request: { body: CreateIdentityRequest },
  reply: { 201: IdentityItem },
  errors: ["feature_not_available", "operation_not_supported"],
  async run(call, ports: IdentityPorts) {
    const team = requireTeam(call.principal);
    const idempotency = toIdempotentRequest(call.header, call.principal, "create-identity", call.body);
    const { found, replayed } = await addIdentity(team, call, idempotency, ports);
    return {
      status: 201,
      body: toIdentityItem(found.identity, found.available),
      headers: toReplayHeaders(replayed),
    };
  },
});
