import { endpoint } from "#shared/http/endpoint.ts";
import { toIdentityItem } from "#shared/identities/identity-item.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { readIdentities } from "#shared/identities/read-identities.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { ListIdentitiesResponse } from "#shared/wire/identity.ts";

/** GET /agent/identities: lists the identities of the caller's teams, oldest first. */
export const listIdentities = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListIdentitiesResponse },
  async run({ query, principal }, ports: IdentityPorts) {
    const found = await readIdentities(principal, ports.table);
    const all = found.map(({ identity, available }) => toIdentityItem(identity, available));
    const binding = ["identities", toPrincipalKey(principal), listTeamsToRead(principal)];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { agents: items, ...page } };
  },
});
