import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { readInvitations } from "#shared/teams/invitations.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { ListInvitationsResponse } from "#shared/wire/team.ts";

/**
 * GET /agent/teams/{teamUid}/invitations: lists the open invitations of a team, without their links. Requires the role
 * `admin`.
 */
export const listInvitations = endpoint({
  request: { path: v.object({ teamUid: PathId }), query: pageQuery },
  reply: { 200: ListInvitationsResponse },
  async run({ path, query, principal }, ports: TeamPorts) {
    requireAdmin(path.teamUid, principal);
    const all = await readInvitations(path.teamUid, ports);
    const binding = ["invitations", toPrincipalKey(principal), path.teamUid];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ id }) => id }, ports.cursors);
    return { status: 200, body: { invitations: items, ...page } };
  },
});
