import { endpoint } from "#shared/http/endpoint.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { readIdentityPage } from "#shared/identities/list-identities.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { ListIdentitiesResponse } from "#shared/wire/identity.ts";

/** GET /agent/identities: lists the identities of the caller's teams, oldest first. */
export const listIdentities = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListIdentitiesResponse },
  async run({ query, principal }, ports: IdentityPorts) {
    return { status: 200, body: await readIdentityPage(query, principal, ports) };
  },
});
