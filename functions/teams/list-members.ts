import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { readMembers } from "#shared/teams/members.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { ListMembersResponse } from "#shared/wire/team.ts";

/** GET /agent/teams/{teamUid}/members: lists the members of a team with their roles. Requires the role `admin`. */
export const listMembers = endpoint({
  request: { path: v.object({ teamUid: PathId }), query: pageQuery },
  reply: { 200: ListMembersResponse },
  async run({ path, query, principal }, ports: TeamPorts) {
    requireAdmin(path.teamUid, principal);
    const all = await readMembers(path.teamUid, ports.table);
    const binding = ["members", toPrincipalKey(principal), path.teamUid];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { members: items, ...page } };
  },
});
