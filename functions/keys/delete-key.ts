import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { toPersonalKeyOwner } from "#shared/keys/key-owner.ts";
import { revokeKey } from "#shared/keys/manage-keys.ts";

/**
 * DELETE /agent/keys/{keyUid}: revokes one of the caller's API keys. The key is refused from the next request. The key
 * of the request itself can be revoked too.
 */
export const deleteKey = endpoint({
  request: { path: v.object({ keyUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: IdentityPorts) {
    await revokeKey(toPersonalKeyOwner(principal), path.keyUid, ports);
    return { status: 204 };
  },
});
