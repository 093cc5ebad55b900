import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toTeamItem } from "#shared/records/team.ts";
import { requireAdmin } from "#shared/teams/require-role.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { findTeam } from "#shared/teams/write-team.ts";
import { TeamItem } from "#shared/wire/team.ts";

/** GET /agent/teams/{teamUid}: returns a team with its settings. Requires the role `admin`. */
export const getTeam = endpoint({
  request: { path: v.object({ teamUid: PathId }) },
  reply: { 200: TeamItem },
  async run({ path, principal }, ports: TeamPorts) {
    requireAdmin(path.teamUid, principal);
    return { status: 200, body: toTeamItem(await findTeam(path.teamUid, ports)) };
  },
});
