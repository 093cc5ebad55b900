import { installationStore } from "#shared/github/installation-store.ts";
import { toInstallationItem } from "#shared/github/installations.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import type { Table } from "#shared/table/table.ts";
import { ListInstallationsResponse } from "#shared/wire/github/installation.ts";

/**
 * GET /agent/github/installations: lists the team's installations of the GitHub App. Requires the role `admin`.
 */
export const listInstallations = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListInstallationsResponse },
  async run({ query, principal }, { table, cursors }: { readonly table: Table; readonly cursors: Cursors }) {
    const teams = requireAdministeredTeams(principal);
    const all = (await installationStore(table).list(teams)).map(toInstallationItem);
    const binding = ["installations", toPrincipalKey(principal), teams];
    const placeOf = ({ installation_id: id }: (typeof all)[number]) => String(id).padStart(16, "0");
    const sorted = all.sort((one, other) => one.installation_id - other.installation_id);
    const { items, page } = await paginate(sorted, query, { binding, placeOf }, cursors);
    return { status: 200, body: { installations: items, ...page } };
  },
});
