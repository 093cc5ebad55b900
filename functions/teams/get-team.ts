import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { readTeamDetail } from "#shared/teams/team-detail.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { TeamDetail } from "#shared/wire/team.ts";

/** GET /agent/teams/{teamUid}: returns a team with its settings and its spending of the month. Requires the role `admin`. */
export const getTeam = endpoint({
  request: { path: v.object({ teamUid: PathId }) },
  reply: { 200: TeamDetail },
  async run({ path, principal }, ports: TeamPorts) {
    requireAdmin(path.teamUid, principal);
    return { status: 200, body: await readTeamDetail(path.teamUid, ports) };
  },
});
