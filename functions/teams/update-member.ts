import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { changeRole } from "#shared/teams/members.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { MemberItem, UpdateMemberRequest } from "#shared/wire/team.ts";

/** PUT /agent/teams/{teamUid}/members/{userUid}: another role; the last admin stays one. */
export const updateMember = endpoint({
  request: { path: v.object({ teamUid: PathId, userUid: PathId }), body: UpdateMemberRequest },
  reply: { 200: MemberItem },
  async run({ path, body, principal }, ports: TeamPorts) {
    adminOf(path.teamUid, principal);
    return { status: 200, body: await changeRole(path.teamUid, path.userUid, body.role, ports) };
  },
});
