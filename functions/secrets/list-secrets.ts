import { endpoint } from "#shared/http/endpoint.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { pageOf, pageQuery } from "#shared/pagination/page.ts";
import { principalKey } from "#shared/principals/principal.ts";
import { listSecrets as list, placeOf } from "#shared/secrets/secrets.ts";
import { administered } from "#shared/teams/people.ts";
import { ListSecretsResponse } from "#shared/wire/secret.ts";

/** GET /agent/secrets: the names of the team's secrets. */
export const listSecrets = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListSecretsResponse },
  async run({ query, principal }, ports: IdentityPorts) {
    const teams = administered(principal);
    const all = await list(teams, ports.table);
    const binding = ["secrets", principalKey(principal), teams];
    const { items, page } = await pageOf(all, query, { binding, placeOf }, ports.cursors);
    return { status: 200, body: { secrets: items, ...page } };
  },
});
