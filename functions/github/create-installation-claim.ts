import { beginClaim, type ClaimPorts } from "#shared/github/installations.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import { InstallationClaim } from "#shared/wire/github/installation.ts";

/**
 * POST /agent/github/claims: starts the claim of an installation of the GitHub App. GitHub redirects to the web app, with
 * a `state`, a `code` and the `installation_id`, for POST /agent/github/installations. The claim must be complete within
 * an hour. Requires the role `admin`.
 */
export const createInstallationClaim = endpoint({
  request: {},
  reply: { 201: InstallationClaim },
  errors: ["integration_not_configured"],
  async run({ principal }, ports: ClaimPorts) {
    const team = requireTeam(principal);
    return { status: 201, body: await beginClaim(team, requireAdmin(team, principal), ports) };
  },
});
