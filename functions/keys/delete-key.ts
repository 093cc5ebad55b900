import * as v from "valibot";
import { keyOwnerOf } from "#shared/api-keys/key-owner.ts";
import { deleteKey as remove } from "#shared/api-keys/manage-keys.ts";
import { endpoint, NO_CONTENT, PathId } from "#shared/http/endpoint.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";

/** DELETE /agent/keys/{keyUid}: one of the caller's own keys; it may be the one that the call came with. */
export const deleteKey = endpoint({
  request: { path: v.object({ keyUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: IdentityPorts) {
    await remove(keyOwnerOf(principal), path.keyUid, ports);
    return { status: 204 };
  },
});
