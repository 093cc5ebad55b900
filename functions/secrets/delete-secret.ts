import * as v from "valibot";
import { endpoint } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import type { SecretPorts } from "#shared/secrets/secret-ports.ts";
import { removeSecret } from "#shared/secrets/secrets.ts";
import { SecretName } from "#shared/wire/secrets/secret-name.ts";

/**
 * DELETE /agent/secrets/{secret}: deletes a secret. Executions that have started keep the value until they end.
 * Requires the role `admin`.
 */
export const deleteSecret = endpoint({
  request: { path: v.object({ secret: SecretName }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: SecretPorts) {
    await removeSecret(requireAdministeredTeams(principal), path.secret, ports);
    return { status: 204 };
  },
});
