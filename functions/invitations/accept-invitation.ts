import * as v from "valibot";
import { keyOptionalEndpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { sha256 } from "#shared/ids.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { createInvitedAccount, joinTeam } from "#shared/teams/accept-invitation.ts";
import type { TeamPorts } from "#shared/teams/team-ports.ts";
import { CreatedAccount, Membership } from "#shared/wire/team.ts";

/**
 * POST /agent/invitations/{token}/accept: accepts an invitation to a team. With an API key, the caller joins the team
 * (200). Without an API key, an account is created for the invited address (201), and its first API key is returned.
 * A repeat with the same `Idempotency-Key` returns the same API key; no other request does. If the address already has
 * an account, the response is 401: use a key of that account.
 */
export const acceptInvitation = keyOptionalEndpoint({
  request: { path: v.object({ token: v.string() }) },
  reply: { 200: Membership, 201: CreatedAccount },
  async run({ path, principal, header }, ports: TeamPorts) {
    const idempotency = toIdempotentRequest(header, principal, `accept-invitation:${sha256(path.token)}`, {});
    if (principal === undefined) {
      const { account, replayed } = await createInvitedAccount(path.token, idempotency, ports);
      return { status: 201, body: account, headers: toReplayHeaders(replayed) };
    }
    const { membership, replayed } = await joinTeam(path.token, requirePerson(principal), idempotency, ports);
    return { status: 200, body: membership, headers: toReplayHeaders(replayed) };
  },
});
