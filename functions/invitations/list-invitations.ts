import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { pageOf, pageQuery } from "#shared/pagination/page.ts";
import { principalKey } from "#shared/principals/principal.ts";
import { listInvitations as list } from "#shared/teams/invitations.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { ListInvitationsResponse } from "#shared/wire/team.ts";

/** GET /agent/teams/{teamUid}/invitations: those that wait to be accepted, without their links. */
export const listInvitations = endpoint({
  request: { path: v.object({ teamUid: PathId }), query: pageQuery },
  reply: { 200: ListInvitationsResponse },
  async run({ path, query, principal }, ports: TeamPorts) {
    adminOf(path.teamUid, principal);
    const all = await list(path.teamUid, ports);
    const binding = ["invitations", principalKey(principal), path.teamUid];
    const { items, page } = await pageOf(all, query, { binding, placeOf: ({ id }) => id }, ports.cursors);
    return { status: 200, body: { invitations: items, ...page } };
  },
});
