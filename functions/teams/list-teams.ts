import { endpoint } from "#shared/http/endpoint.ts";
import { pageOf, pageQuery } from "#shared/pagination/page.ts";
import { teamsToRead } from "#shared/principals/default-team.ts";
import { principalKey } from "#shared/principals/principal.ts";
import { toTeamItem } from "#shared/records/team.ts";
import { teamsOf } from "#shared/teams/me.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { ListTeamsResponse } from "#shared/wire/team.ts";

/** GET /agent/teams: the teams that the caller is in, oldest first. */
export const listTeams = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListTeamsResponse },
  async run({ query, principal }, ports: TeamPorts) {
    const uids = teamsToRead(principal);
    const found = await teamsOf(uids, ports.table);
    const all = [...found.values()].map(toTeamItem).sort((a, b) => (a.uid < b.uid ? -1 : 1));
    const binding = ["teams", principalKey(principal), uids];
    const { items, page } = await pageOf(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { teams: items, ...page } };
  },
});
