import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { invite } from "#shared/teams/invitations.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { requireAdmin } from "#shared/teams/require-role.ts";
import { CreatedInvitation, CreateInvitationRequest } from "#shared/wire/team.ts";

/** POST /agent/teams/{teamUid}/invitations: Creates an invitation whose link is valid for a week; only this response shows it. */
export const createInvitation = endpoint({
  request: { path: v.object({ teamUid: PathId }), body: CreateInvitationRequest },
  reply: { 201: CreatedInvitation },
  async run({ path, body, principal, header }, ports: TeamPorts) {
    const { user } = requireAdmin(path.teamUid, principal);
    const idempotency = toIdempotentRequest(header, principal, `create-invitation:${path.teamUid}`, body);
    const fields = { team: path.teamUid, email: body.email, role: body.role ?? "member", createdBy: user.uid };
    return { status: 201, body: await invite(fields, idempotency, ports) };
  },
});
