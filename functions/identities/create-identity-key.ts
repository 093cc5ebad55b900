import * as v from "valibot";
import { identityKeyOwner } from "#shared/api-keys/key-owner.ts";
import { createKey } from "#shared/api-keys/manage-keys.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { refuseUnavailable, visibleIdentity } from "#shared/identities/read-identities.ts";
import { profileOf } from "#shared/principals/principal.ts";
import { personOf } from "#shared/teams/people.ts";
import { CreatedKey, CreateKeyRequest } from "#shared/wire/key.ts";

/** POST /agent/identities/{identityUid}/keys: a key with which an agent calls as the identity, shown this once. */
export const createIdentityKey = endpoint({
  request: { path: v.object({ identityUid: PathId }), body: CreateKeyRequest },
  reply: { 201: CreatedKey },
  errors: ["feature_not_available"],
  rateLimit: "key",
  async run({ path, body, principal, header, rateLimitToken }, ports: IdentityPorts) {
    const found = await visibleIdentity(path.identityUid, principal, ports.table);
    refuseUnavailable(found);
    const once = toIdempotentRequest(header, principal, `create-key:${path.identityUid}`, body);
    const given = { once, rateLimitToken, createdBy: profileOf(personOf(principal)) };
    return { status: 201, body: await createKey(identityKeyOwner(found.identity), body, given, ports) };
  },
});
