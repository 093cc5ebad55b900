import * as v from "valibot";
import { endpoint, NO_CONTENT, PathId } from "#shared/http/endpoint.ts";
import { deleteInvitation as remove } from "#shared/teams/invitations.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";

/** DELETE /agent/teams/{teamUid}/invitations/{invitationId}: its link leads nowhere from then on. */
export const deleteInvitation = endpoint({
  request: { path: v.object({ teamUid: PathId, invitationId: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: TeamPorts) {
    adminOf(path.teamUid, principal);
    await remove(path.teamUid, path.invitationId, ports);
    return { status: 204 };
  },
});
