import { holderOf } from "#shared/api-keys/holder.ts";
import { createKey as create } from "#shared/api-keys/manage-keys.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { onceOf } from "#shared/idempotency/once.ts";
import { liveIdentities } from "#shared/identities/live.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { CreatedKey, CreateKeyRequest } from "#shared/wire/key.ts";

/** POST /agent/keys: another key of the caller's own, shown this once. */
export const createKey = endpoint({
  request: { body: CreateKeyRequest },
  reply: { 201: CreatedKey },
  rateLimit: "key",
  async run({ body, principal, header, toll }, ports: IdentityPorts) {
    const once = onceOf(header, principal, "create-key", body);
    return { status: 201, body: await create(holderOf(principal), body, { once, toll }, ports) };
  },
});

export const handler = createKey.lambda(liveIdentities);
