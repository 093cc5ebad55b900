import { endpoint } from "#shared/http/endpoint.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import { placeOf, readSecrets } from "#shared/secrets/secrets.ts";
import { ListSecretsResponse } from "#shared/wire/secrets/secret.ts";

/** GET /agent/secrets: lists the metadata of a team's secrets, without values. Requires the role `admin`. */
export const listSecrets = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListSecretsResponse },
  async run({ query, principal }, ports: IdentityPorts) {
    const teams = requireAdministeredTeams(principal);
    const all = await readSecrets(teams, ports.table);
    const binding = ["secrets", toPrincipalKey(principal), teams];
    const { items, page } = await paginate(all, query, { binding, placeOf }, ports.cursors);
    return { status: 200, body: { secrets: items, ...page } };
  },
});
