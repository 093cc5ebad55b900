import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { readIdentity, refuseUnavailable } from "#shared/identities/read-identities.ts";
import { toIdentityKeyOwner } from "#shared/keys/key-owner.ts";
import { issueKey } from "#shared/keys/manage-keys.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { CreatedKey, CreateKeyRequest } from "#shared/wire/key.ts";

/**
 * POST /agent/identities/{identityUid}/keys: creates an API key for an identity. The response contains the key, which
 * is never shown again. The key does not expire unless `expires_at` is set. An identity can have at most 50 keys.
 * Requires a personal key.
 */
export const createIdentityKey = endpoint({
  request: { path: v.object({ identityUid: PathId }), body: CreateKeyRequest },
  reply: { 201: CreatedKey },
  errors: ["feature_not_available"],
  rateLimit: "key",
  async run({ path, body, principal, header, rateLimitToken }, ports: IdentityPorts) {
    const found = await readIdentity(path.identityUid, principal, ports.table);
    refuseUnavailable(found);
    const idempotency = toIdempotentRequest(header, principal, `create-key:${path.identityUid}`, body);
    const options = { idempotency, rateLimitToken, creator: requirePerson(principal) };
    return { status: 201, body: await issueKey(toIdentityKeyOwner(found.identity), body, options, ports) };
  },
});
