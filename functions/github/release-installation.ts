import * as v from "valibot";
import { removeClaim } from "#shared/github/installations.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import type { Table } from "#shared/table/table.ts";

const InstallationId = v.pipe(v.string(), v.regex(/^[1-9]\d{0,14}$/), v.transform(Number));

/**
 * DELETE /agent/github/installations/{installationId}: removes an installation of the GitHub App from the team. The App
 * stays installed on GitHub. Requires the role `admin`.
 */
export const releaseInstallation = endpoint({
  request: { path: v.object({ installationId: InstallationId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, { table }: { readonly table: Table }) {
    await removeClaim(requireAdministeredTeams(principal), path.installationId, table);
    return { status: 204 };
  },
});
