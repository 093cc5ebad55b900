import { endpoint } from "#shared/http/endpoint.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { changeMe } from "#shared/teams/me.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { Me, UpdateMeRequest } from "#shared/wire/team.ts";

/**
 * PUT /agent/me: updates the caller's display name. The email address cannot be changed: a different one returns 422.
 */
export const updateMe = endpoint({
  request: { body: UpdateMeRequest },
  reply: { 200: Me },
  errors: ["operation_not_supported"],
  async run({ body, principal }, ports: TeamPorts) {
    return { status: 200, body: await changeMe(requirePerson(principal), body, ports) };
  },
});
