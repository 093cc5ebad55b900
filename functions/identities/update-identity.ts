import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toIdentityItem } from "#shared/identities/identity-item.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { changeIdentity } from "#shared/identities/write-identity.ts";
import { IdentityItem, UpdateIdentityRequest } from "#shared/wire/identity.ts";

/**
 * PUT /agent/identities/{identityUid}: updates an identity. Members that are absent or null keep their values; an empty
 * value (`""`, `[]` or `{}`) clears one. An identity that is not `available` returns 403. Requires a personal key.
 */
export const updateIdentity = endpoint({
  request: { path: v.object({ identityUid: PathId }), body: UpdateIdentityRequest },
  reply: { 200: IdentityItem },
  errors: ["feature_not_available", "operation_not_supported"],
  async run(call, ports: IdentityPorts) {
    const { identity, available } = await changeIdentity(call.path.identityUid, call, ports);
    return { status: 200, body: toIdentityItem(identity, available) };
  },
});
