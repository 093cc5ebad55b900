import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { refuseLimitedKey } from "#shared/principals/key-budget.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { invite } from "#shared/teams/invitations.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { CreatedInvitation, CreateInvitationRequest } from "#shared/wire/team.ts";

/**
 * POST /agent/teams/{teamUid}/invitations: creates an invitation to a team and returns its link. The link is returned
 * once, works once and expires after 7 days. A team can have at most 100 open invitations. No email is sent. Requires
 * the role `admin`. The first key of an account that the link creates has at most the scopes of the request's credential.
 */
export const createInvitation = endpoint({
  request: { path: v.object({ teamUid: PathId }), body: CreateInvitationRequest },
  reply: { 201: CreatedInvitation },
  async run({ path, body, principal, header }, ports: TeamPorts) {
    const { user, scopes } = requireAdmin(path.teamUid, principal);
    refuseLimitedKey(principal, "invitations");
    const idempotency = toIdempotentRequest(header, principal, `create-invitation:${path.teamUid}`, body);
    const fields = { team: path.teamUid, email: body.email, role: body.role ?? "member", createdBy: user.uid, scopes };
    return { status: 201, body: await invite(fields, idempotency, ports) };
  },
});
