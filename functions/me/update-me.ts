import { endpoint } from "#shared/http/endpoint.ts";
import { updateMe as update } from "#shared/teams/me.ts";
import { personOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { Me, UpdateMeRequest } from "#shared/wire/team.ts";

/** PUT /agent/me: changes the name by which others see the caller. */
export const updateMe = endpoint({
  request: { body: UpdateMeRequest },
  reply: { 200: Me },
  errors: ["operation_not_supported"],
  async run({ body, principal }, ports: TeamPorts) {
    return { status: 200, body: await update(personOf(principal), body, ports) };
  },
});
