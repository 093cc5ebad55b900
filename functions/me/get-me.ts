import { endpoint } from "#shared/http/endpoint.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { readMe } from "#shared/teams/me.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { Me } from "#shared/wire/team.ts";

/** GET /agent/me: returns the caller and their team memberships. */
export const getMe = endpoint({
  request: {},
  reply: { 200: Me },
  async run({ principal }, ports: TeamPorts) {
    return { status: 200, body: await readMe(requirePerson(principal), ports) };
  },
});
