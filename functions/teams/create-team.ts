import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { toTeamItem } from "#shared/records/team.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { addTeam } from "#shared/teams/write-team.ts";
import { CreateTeamRequest, TeamItem } from "#shared/wire/team.ts";

/**
 * POST /agent/teams: creates a team with the caller as its admin. Settings that are absent or null have their defaults.
 */
export const createTeam = endpoint({
  request: { body: CreateTeamRequest },
  reply: { 201: TeamItem },
  errors: ["operation_not_supported"],
  async run({ body, principal, header }, ports: TeamPorts) {
    const idempotency = toIdempotentRequest(header, principal, "create-team", body);
    const { team, replayed } = await addTeam(requirePerson(principal), body, idempotency, ports);
    return {
      status: 201,
      body: toTeamItem(team),
      headers: toReplayHeaders(replayed),
    };
  },
});
