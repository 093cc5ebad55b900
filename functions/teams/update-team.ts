import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toTeamItem } from "#shared/records/team.ts";
import type { LimitPorts } from "#shared/teams/ports.ts";
import { requireAdmin } from "#shared/teams/require-role.ts";
import { changeTeam } from "#shared/teams/write-team.ts";
import { TeamItem, UpdateTeamRequest } from "#shared/wire/team.ts";

/** PUT /agent/teams/{teamUid}: Changes a team's name and settings. Null brings a setting back to its default. */
export const updateTeam = endpoint({
  request: { path: v.object({ teamUid: PathId }), body: UpdateTeamRequest },
  reply: { 200: TeamItem },
  errors: ["operation_not_supported"],
  async run({ path, body, principal }, ports: LimitPorts) {
    requireAdmin(path.teamUid, principal);
    return { status: 200, body: toTeamItem(await changeTeam(path.teamUid, body, ports)) };
  },
});
