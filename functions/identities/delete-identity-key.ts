import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { readIdentity } from "#shared/identities/read-identities.ts";
import { toIdentityKeyOwner } from "#shared/keys/key-owner.ts";
import { revokeKey } from "#shared/keys/manage-keys.ts";

/**
 * DELETE /agent/identities/{identityUid}/keys/{keyUid}: revokes an API key of an identity. The key is refused from the
 * next request. Requires a personal key.
 */
export const deleteIdentityKey = endpoint({
  request: { path: v.object({ identityUid: PathId, keyUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: IdentityPorts) {
    const { identity } = await readIdentity(path.identityUid, principal, ports.table);
    await revokeKey(toIdentityKeyOwner(identity), path.keyUid, ports);
    return { status: 204 };
  },
});
