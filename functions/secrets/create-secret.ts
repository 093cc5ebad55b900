import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import { requireAdmin } from "#shared/principals/require-role.ts";
import type { SecretPorts } from "#shared/secrets/secret-ports.ts";
import { addSecret, hashSecret } from "#shared/secrets/secrets.ts";
import { CreateSecretRequest, SecretItem } from "#shared/wire/secrets/secret.ts";

/**
 * POST /agent/secrets: creates a secret for the runs of a team. Environments and identities refer to the secret by
 * name. The value is never returned; to change it, delete the secret and create it again. A team can have at most 100
 * secrets. Requires the role `admin`.
 */
export const createSecret = endpoint({
  request: { body: CreateSecretRequest },
  reply: { 201: SecretItem },
  async run({ body, principal, header }, ports: SecretPorts) {
    const team = requireTeam(principal);
    requireAdmin(team, principal);
    const content = [body.name, hashSecret(team, body)];
    const idempotency = toIdempotentRequest(header, principal, `create-secret:${team}`, content);
    const { secret, replayed } = await addSecret(team, body, idempotency, ports);
    return { status: 201, body: secret, headers: toReplayHeaders(replayed) };
  },
});
