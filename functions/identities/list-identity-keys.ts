import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { readIdentity } from "#shared/identities/read-identities.ts";
import { toIdentityKeyOwner } from "#shared/keys/key-owner.ts";
import { readKeys } from "#shared/keys/manage-keys.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { ListKeysResponse } from "#shared/wire/key.ts";

/** GET /agent/identities/{identityUid}/keys: lists the API keys of an identity, without their values. */
export const listIdentityKeys = endpoint({
  request: { path: v.object({ identityUid: PathId }), query: pageQuery },
  reply: { 200: ListKeysResponse },
  async run({ path, query, principal }, ports: IdentityPorts) {
    const { identity } = await readIdentity(path.identityUid, principal, ports.table);
    const all = await readKeys(toIdentityKeyOwner(identity), ports);
    const binding = ["identity-keys", toPrincipalKey(principal), identity.uid];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { keys: items, ...page } };
  },
});
