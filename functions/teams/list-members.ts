import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { pageOf, pageQuery } from "#shared/pagination/page.ts";
import { principalKey } from "#shared/principals/principal.ts";
import { membersOf } from "#shared/records/member.ts";
import { toMemberItem } from "#shared/teams/members.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { ListMembersResponse } from "#shared/wire/team.ts";

/** GET /agent/teams/{teamUid}/members: who is in the team, and as what. */
export const listMembers = endpoint({
  request: { path: v.object({ teamUid: PathId }), query: pageQuery },
  reply: { 200: ListMembersResponse },
  async run({ path, query, principal }, ports: TeamPorts) {
    adminOf(path.teamUid, principal);
    const all = (await membersOf(path.teamUid, ports.table)).map(toMemberItem);
    const binding = ["members", principalKey(principal), path.teamUid];
    const { items, page } = await pageOf(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { members: items, ...page } };
  },
});
