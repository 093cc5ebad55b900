import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { changeRole } from "#shared/teams/members.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { MemberItem, UpdateMemberRequest } from "#shared/wire/team.ts";

/**
 * PUT /agent/teams/{teamUid}/members/{userUid}: changes a member's role. The last admin of a team cannot become a
 * member (409). Requires the role `admin`.
 */
export const updateMember = endpoint({
  request: { path: v.object({ teamUid: PathId, userUid: PathId }), body: UpdateMemberRequest },
  reply: { 200: MemberItem },
  async run({ path, body, principal }, ports: TeamPorts) {
    requireAdmin(path.teamUid, principal);
    return { status: 200, body: await changeRole(path.teamUid, path.userUid, body.role, ports) };
  },
});
