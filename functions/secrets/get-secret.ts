import * as v from "valibot";
import { endpoint } from "#shared/http/endpoint.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import { readSecret } from "#shared/secrets/secrets.ts";
import { SecretItem } from "#shared/wire/secrets/secret.ts";
import { SecretName } from "#shared/wire/secrets/secret-name.ts";

/** GET /agent/secrets/{secret}: returns a secret's metadata, without its value. Requires the role `admin`. */
export const getSecret = endpoint({
  request: { path: v.object({ secret: SecretName }) },
  reply: { 200: SecretItem },
  async run({ path, principal }, { table }: IdentityPorts) {
    return { status: 200, body: await readSecret(requireAdministeredTeams(principal), path.secret, table) };
  },
});
