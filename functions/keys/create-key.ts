import { keyOwnerOf } from "#shared/api-keys/key-owner.ts";
import { createKey as create } from "#shared/api-keys/manage-keys.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { profileOf } from "#shared/principals/principal.ts";
import { personOf } from "#shared/teams/people.ts";
import { CreatedKey, CreateKeyRequest } from "#shared/wire/key.ts";

/** POST /agent/keys: another key of the caller's own, shown this once. */
export const createKey = endpoint({
  request: { body: CreateKeyRequest },
  reply: { 201: CreatedKey },
  rateLimit: "key",
  async run({ body, principal, header, rateLimitToken }, ports: IdentityPorts) {
    const once = toIdempotentRequest(header, principal, "create-key", body);
    const createdBy = profileOf(personOf(principal));
    return { status: 201, body: await create(keyOwnerOf(principal), body, { once, rateLimitToken, createdBy }, ports) };
  },
});
