import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { toPersonalKeyOwner } from "#shared/keys/key-owner.ts";
import { issueKey } from "#shared/keys/manage-keys.ts";
import { keyHashOf } from "#shared/principals/principal.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { CreatedKey, CreateKeyRequest } from "#shared/wire/key.ts";

/**
 * POST /agent/keys: creates a personal API key. The response contains the key, which is never shown again. The key does
 * not expire unless `expires_at` is set. A person can have at most 50 keys.
 */
export const createKey = endpoint({
  request: { body: CreateKeyRequest },
  reply: { 201: CreatedKey },
  rateLimit: "key",
  async run({ body, principal, header, rateLimitToken }, ports: IdentityPorts) {
    const idempotency = toIdempotentRequest(header, principal, "create-key", body);
    const person = requirePerson(principal);
    const options = { idempotency, rateLimitToken, creator: person, usedKey: keyHashOf(person) };
    return { status: 201, body: await issueKey(toPersonalKeyOwner(principal), body, options, ports) };
  },
});
