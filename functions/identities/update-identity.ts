import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toIdentityItem } from "#shared/identities/identity-item.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { changeIdentity } from "#shared/identities/write-identity.ts";
import { IdentityItem, UpdateIdentityRequest } from "#shared/wire/identity.ts";

/** PUT /agent/identities/{identityUid}: Changes an identity. Members that the body leaves out stay as they are. */
export const updateIdentity = endpoint({
  request: { path: v.object({ identityUid: PathId }), body: UpdateIdentityRequest },
  reply: { 200: IdentityItem },
  errors: ["feature_not_available"],
  async run({ path, body, principal }, ports: IdentityPorts) {
    const { identity, available } = await changeIdentity(path.identityUid, body, principal, ports);
    return { status: 200, body: toIdentityItem(identity, available) };
  },
});
