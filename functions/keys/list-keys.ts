import { endpoint } from "#shared/http/endpoint.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { toPersonalKeyOwner } from "#shared/keys/key-owner.ts";
import { readKeys } from "#shared/keys/manage-keys.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { ListKeysResponse } from "#shared/wire/key.ts";

/** GET /agent/keys: lists the caller's API keys, without their values. */
export const listKeys = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListKeysResponse },
  async run({ query, principal }, ports: IdentityPorts) {
    const all = await readKeys(toPersonalKeyOwner(principal), ports);
    const binding = ["keys", toPrincipalKey(principal)];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { keys: items, ...page } };
  },
});
