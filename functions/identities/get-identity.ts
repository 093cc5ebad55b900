import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toIdentityItem } from "#shared/identities/identity-item.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { readIdentity } from "#shared/identities/read-identities.ts";
import { IdentityItem } from "#shared/wire/identity.ts";

/** GET /agent/identities/{identityUid}: returns an identity with its defaults for runs. */
export const getIdentity = endpoint({
  request: { path: v.object({ identityUid: PathId }) },
  reply: { 200: IdentityItem },
  async run({ path, principal }, { table }: IdentityPorts) {
    const { identity, available } = await readIdentity(path.identityUid, principal, table);
    return { status: 200, body: toIdentityItem(identity, available) };
  },
});
