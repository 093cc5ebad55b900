import { type PageQuery, paginate } from "#shared/pagination/page.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import type { ListIdentitiesResponse } from "#shared/wire/identity.ts";
import { toIdentityItem } from "./identity-item.ts";
import type { IdentityPorts } from "./identity-ports.ts";
import { readIdentities } from "./read-identities.ts";

/** Reads a page of the identities of the caller's teams, oldest first. */
export async function readIdentityPage(
  query: PageQuery,
  principal: Principal,
  { table, cursors }: Pick<IdentityPorts, "table" | "cursors">,
): Promise<ListIdentitiesResponse> {
  const found = await readIdentities(principal, table);
  const all = found.map(({ identity, available }) => toIdentityItem(identity, available));
  const binding = ["identities", toPrincipalKey(principal), listTeamsToRead(principal)];
  const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, cursors);
  return { agents: items, ...page };
}
