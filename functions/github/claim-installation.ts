import { type ClaimPorts, completeClaim, toInstallationItem } from "#shared/github/installations.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { ClaimInstallationRequest, InstallationItem } from "#shared/wire/github/installation.ts";

/**
 * POST /agent/github/installations: adds an installation of the GitHub App to the team. No other team can use it. The
 * `code` must be of an owner of the account on which the App is installed. Returns 409 if a team has claimed the
 * installation. Requires the role `admin`, and the person who started the claim.
 */
export const claimInstallation = endpoint({
  request: { body: ClaimInstallationRequest },
  reply: { 201: InstallationItem },
  errors: ["integration_not_configured"],
  async run({ body, principal, header }, ports: ClaimPorts) {
    const team = requireTeam(principal);
    const admin = requireAdmin(team, principal);
    const idempotency = toIdempotentRequest(header, principal, `claim-installation:${team}`, body);
    const { installation, replayed } = await completeClaim(team, body, admin, idempotency, ports);
    return { status: 201, body: toInstallationItem(installation), headers: toReplayHeaders(replayed) };
  },
});
