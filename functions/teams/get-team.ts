import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toTeamItem } from "#shared/records/team.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { teamCalled } from "#shared/teams/write-team.ts";
import { TeamItem } from "#shared/wire/team.ts";

/** GET /agent/teams/{teamUid}: a team with its settings, for its admins. */
export const getTeam = endpoint({
  request: { path: v.object({ teamUid: PathId }) },
  reply: { 200: TeamItem },
  async run({ path, principal }, ports: TeamPorts) {
    adminOf(path.teamUid, principal);
    return { status: 200, body: toTeamItem(await teamCalled(path.teamUid, ports)) };
  },
});
