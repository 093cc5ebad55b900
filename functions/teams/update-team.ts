import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import type { LimitPorts } from "#shared/teams/team-ports.ts";
import { changeTeam } from "#shared/teams/write-team.ts";
import { TeamDetail, UpdateTeamRequest } from "#shared/wire/team.ts";

/**
 * PUT /agent/teams/{teamUid}: updates a team's name and settings. Settings that are absent keep their values; null
 * restores the default. Requires the role `admin`.
 */
export const updateTeam = endpoint({
  request: { path: v.object({ teamUid: PathId }), body: UpdateTeamRequest },
  reply: { 200: TeamDetail },
  errors: ["operation_not_supported"],
  async run({ path, body, principal }, ports: LimitPorts) {
    requireAdmin(path.teamUid, principal);
    return { status: 200, body: await changeTeam(path.teamUid, body, ports) };
  },
});
