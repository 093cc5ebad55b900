import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { type DeletionPorts, removeIdentity } from "#shared/identities/delete-identity.ts";

/**
 * DELETE /agent/identities/{identityUid}: deletes an identity and revokes all its keys. Its runs that have not started
 * fail with `not_authorized`, runs in progress finish, and its schedules and triggers are paused. The team's default identity cannot
 * be deleted (400). Requires a personal key.
 */
export const deleteIdentity = endpoint({
  request: { path: v.object({ identityUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: DeletionPorts) {
    await removeIdentity(path.identityUid, principal, ports);
    return { status: 204 };
  },
});
