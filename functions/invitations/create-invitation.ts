import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { createInvitation as create } from "#shared/teams/invitations.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { CreatedInvitation, CreateInvitationRequest } from "#shared/wire/team.ts";

/** POST /agent/teams/{teamUid}/invitations: a link, shown this once, by which somebody joins the team within a week. */
export const createInvitation = endpoint({
  request: { path: v.object({ teamUid: PathId }), body: CreateInvitationRequest },
  reply: { 201: CreatedInvitation },
  async run({ path, body, principal, header }, ports: TeamPorts) {
    const { user } = adminOf(path.teamUid, principal);
    const once = toIdempotentRequest(header, principal, `create-invitation:${path.teamUid}`, body);
    const invitation = { email: body.email, role: body.role ?? "member", createdBy: user.uid };
    return { status: 201, body: await create(path.teamUid, invitation, once, ports) };
  },
});
