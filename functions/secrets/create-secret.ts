import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireTeam } from "#shared/principals/default-team.ts";
import type { SecretPorts } from "#shared/secrets/ports.ts";
import { addSecret, hashSecret } from "#shared/secrets/secrets.ts";
import { requireAdmin } from "#shared/teams/require-role.ts";
import { CreateSecretRequest, SecretItem } from "#shared/wire/secret.ts";

/** POST /agent/secrets: Creates a secret that configurations refer to by name. No response shows its value. */
export const createSecret = endpoint({
  request: { body: CreateSecretRequest },
  reply: { 201: SecretItem },
  async run({ body, principal, header }, ports: SecretPorts) {
    const team = requireTeam(principal);
    requireAdmin(team, principal);
    const content = [body.name, hashSecret(team, body)];
    const idempotency = toIdempotentRequest(header, principal, `create-secret:${team}`, content);
    const { secret, replayed } = await addSecret(team, body, idempotency, ports);
    return { status: 201, body: secret, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});
