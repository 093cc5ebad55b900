import * as v from "valibot";
import { endpoint } from "#shared/http/endpoint.ts";
import { onceOf } from "#shared/idempotency/once.ts";
import { sha256 } from "#shared/ids.ts";
import { acceptInvitation as accept } from "#shared/teams/invitations.ts";
import { liveTeams } from "#shared/teams/live.ts";
import { personOf } from "#shared/teams/people.ts";
import type { TeamPorts } from "#shared/teams/ports.ts";
import { Membership } from "#shared/wire/team.ts";

/** POST /agent/invitations/{token}/accept: the caller joins the team that they have a link of. */
export const acceptInvitation = endpoint({
  request: { path: v.object({ token: v.string() }) },
  reply: { 200: Membership },
  async run({ path, principal, header }, ports: TeamPorts) {
    const once = onceOf(header, principal, `accept-invitation:${sha256(path.token)}`, {});
    const { membership, replayed } = await accept(path.token, personOf(principal), once, ports);
    return { status: 200, body: membership, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});

export const handler = acceptInvitation.lambda(liveTeams);
