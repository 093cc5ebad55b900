import * as v from "valibot";
import { endpoint, NO_CONTENT } from "#shared/http/endpoint.ts";
import type { SecretPorts } from "#shared/secrets/ports.ts";
import { deleteSecret as remove } from "#shared/secrets/secrets.ts";
import { administered } from "#shared/teams/people.ts";
import { SecretName } from "#shared/wire/secret-name.ts";

/** DELETE /agent/secrets/{secret}: its value is forgotten; runs that began with it keep it until they end. */
export const deleteSecret = endpoint({
  request: { path: v.object({ secret: SecretName }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: SecretPorts) {
    await remove(administered(principal), path.secret, ports);
    return { status: 204 };
  },
});
