import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { requireAdmin, requireAdminOrSelf } from "#shared/principals/require-role.ts";
import { endMembership } from "#shared/teams/remove-member.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { Flag } from "#shared/wire/primitives.ts";
import { RemovedMember } from "#shared/wire/team.ts";

/**
 * DELETE /agent/teams/{teamUid}/members/{userUid}: removes a member from a team. An admin can remove any member, and
 * all members can remove themselves. The last admin of a team cannot be removed (409). Agent keys that the member
 * created are revoked unless an admin sets `keep_keys` to true. Access ends with the next request.
 */
export const removeMember = endpoint({
  request: {
    path: v.object({ teamUid: PathId, userUid: PathId }),
    query: {
      /** Whether to keep the agent keys that the member created. @default false */
      keep_keys: one(Flag),
    },
  },
  reply: { 200: RemovedMember },
  async run({ path, query, principal }, ports: TeamPorts) {
    const keepKeys = query.keep_keys ?? false;
    // A member who leaves knows these keys, and may not decide that they stay valid.
    if (keepKeys) requireAdmin(path.teamUid, principal);
    else requireAdminOrSelf(path.teamUid, path.userUid, principal);
    const removal = { team: path.teamUid, user: path.userUid, keepKeys };
    return { status: 200, body: await endMembership(removal, ports) };
  },
});
