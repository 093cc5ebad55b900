import { endpoint } from "#shared/http/endpoint.ts";
import { readMe } from "#shared/teams/me.ts";
import { personOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { Me } from "#shared/wire/team.ts";

/** GET /agent/me: the caller, and the teams that they are in. */
export const getMe = endpoint({
  request: {},
  reply: { 200: Me },
  async run({ principal }, ports: TeamPorts) {
    return { status: 200, body: await readMe(personOf(principal), ports) };
  },
});
