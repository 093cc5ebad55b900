import * as v from "valibot";
import { identityKeyOwner } from "#shared/api-keys/key-owner.ts";
import { deleteKey } from "#shared/api-keys/manage-keys.ts";
import { endpoint, NO_CONTENT, PathId } from "#shared/http/endpoint.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { visibleIdentity } from "#shared/identities/read-identities.ts";

/** DELETE /agent/identities/{identityUid}/keys/{keyUid}: the key is refused from the next request on. */
export const deleteIdentityKey = endpoint({
  request: { path: v.object({ identityUid: PathId, keyUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: IdentityPorts) {
    const { identity } = await visibleIdentity(path.identityUid, principal, ports.table);
    await deleteKey(identityKeyOwner(identity), path.keyUid, ports);
    return { status: 204 };
  },
});
