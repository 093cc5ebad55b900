import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { toIdentityItem } from "#shared/identities/identity-item.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { createIdentity as create } from "#shared/identities/write-identity.ts";
import { teamToWrite } from "#shared/principals/default-team.ts";
import { CreateIdentityRequest, IdentityItem } from "#shared/wire/identity.ts";

/** POST /agent/identities: an account for an agent of the team, with defaults for its runs. */
export const createIdentity = endpoint({
  request: { body: CreateIdentityRequest },
  reply: { 201: IdentityItem },
  errors: ["feature_not_available"],
  async run({ body, principal, header }, ports: IdentityPorts) {
    const team = teamToWrite(principal);
    const once = toIdempotentRequest(header, principal, "create-identity", body);
    const { found, replayed } = await create(team, body, once, ports);
    return {
      status: 201,
      body: toIdentityItem(found.identity, found.available),
      ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}),
    };
  },
});
