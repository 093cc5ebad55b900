import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { revokeInvitation } from "#shared/teams/invitations.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";

/**
 * DELETE /agent/teams/{teamUid}/invitations/{invitationId}: revokes an invitation. Its link stops working immediately.
 * Requires the role `admin`.
 */
export const deleteInvitation = endpoint({
  request: { path: v.object({ teamUid: PathId, invitationId: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: TeamPorts) {
    requireAdmin(path.teamUid, principal);
    await revokeInvitation(path.teamUid, path.invitationId, ports);
    return { status: 204 };
  },
});
