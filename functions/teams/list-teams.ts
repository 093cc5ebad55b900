import { endpoint } from "#shared/http/endpoint.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { toTeamItem } from "#shared/records/team.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { readTeams } from "#shared/teams/write-team.ts";
import { ListTeamsResponse } from "#shared/wire/team.ts";

/** GET /agent/teams: lists the teams of the caller, oldest first. */
export const listTeams = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListTeamsResponse },
  async run({ query, principal }, ports: TeamPorts) {
    const uids = listTeamsToRead(principal);
    const all = (await readTeams(uids, ports.table)).map(toTeamItem);
    const binding = ["teams", toPrincipalKey(principal), uids];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { teams: items, ...page } };
  },
});
