import * as v from "valibot";
import { endpoint, NO_CONTENT, PathId } from "#shared/http/endpoint.ts";
import { type DeletionPorts, removeIdentity } from "#shared/identities/delete-identity.ts";

/** DELETE /agent/identities/{identityUid}: Deletes an identity and its keys. Its runs that have not started fail, and its schedules are paused. */
export const deleteIdentity = endpoint({
  request: { path: v.object({ identityUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: DeletionPorts) {
    await removeIdentity(path.identityUid, principal, ports);
    return { status: 204 };
  },
});
