import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toTeamItem } from "#shared/records/team.ts";
import { adminOf } from "#shared/teams/people.ts";
import type { LimitPorts } from "#shared/teams/ports.ts";
import { updateTeam as update } from "#shared/teams/write-team.ts";
import { TeamItem, UpdateTeamRequest } from "#shared/wire/team.ts";

/** PUT /agent/teams/{teamUid}: the team's name and settings; null brings a setting back to its default. */
export const updateTeam = endpoint({
  request: { path: v.object({ teamUid: PathId }), body: UpdateTeamRequest },
  reply: { 200: TeamItem },
  errors: ["operation_not_supported"],
  async run({ path, body, principal }, ports: LimitPorts) {
    adminOf(path.teamUid, principal);
    return { status: 200, body: toTeamItem(await update(path.teamUid, body, ports)) };
  },
});
