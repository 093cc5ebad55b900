import * as v from "valibot";
import { endpoint, NO_CONTENT, PathId } from "#shared/http/endpoint.ts";
import { type DeletionPorts, deleteIdentity as remove } from "#shared/identities/delete-identity.ts";

/** DELETE /agent/identities/{identityUid}: the identity and every key of it; its runs that have not begun fail, its schedules pause. */
export const deleteIdentity = endpoint({
  request: { path: v.object({ identityUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: DeletionPorts) {
    await remove(path.identityUid, principal, ports);
    return { status: 204 };
  },
});
