import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { toIdentityItem } from "#shared/identities/identity-item.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { addIdentity } from "#shared/identities/write-identity.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import { CreateIdentityRequest, IdentityItem } from "#shared/wire/identity.ts";

/** POST /agent/identities: Creates an agent identity with defaults for its runs. */
export const createIdentity = endpoint({
  request: { body: CreateIdentityRequest },
  reply: { 201: IdentityItem },
  errors: ["feature_not_available"],
  async run({ body, principal, header }, ports: IdentityPorts) {
    const team = requireTeam(principal);
    const idempotency = toIdempotentRequest(header, principal, "create-identity", body);
    const { found, replayed } = await addIdentity(team, body, idempotency, ports);
    return {
      status: 201,
      body: toIdentityItem(found.identity, found.available),
      ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}),
    };
  },
});
