import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { type DeletionPorts, removeTeam } from "#shared/teams/delete-team.ts";

/**
 * DELETE /agent/teams/{teamUid}: deletes a team with its identities, keys, environments, secrets and webhooks. The team's runs
 * must have ended and its schedules must be deleted, otherwise the response is 409. Requires the role `admin`.
 */
export const deleteTeam = endpoint({
  request: { path: v.object({ teamUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: DeletionPorts) {
    const { user } = requireAdmin(path.teamUid, principal);
    await removeTeam(path.teamUid, user.uid, ports);
    return { status: 204 };
  },
});
