import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { teamToWrite } from "#shared/principals/default-team.ts";
import type { SecretPorts } from "#shared/secrets/ports.ts";
import { createSecret as create, digestOf } from "#shared/secrets/secrets.ts";
import { adminOf } from "#shared/teams/people.ts";
import { CreateSecretRequest, SecretItem } from "#shared/wire/secret.ts";

/** POST /agent/secrets: a value that configurations refer to by its name, and that no answer ever shows. */
export const createSecret = endpoint({
  request: { body: CreateSecretRequest },
  reply: { 201: SecretItem },
  async run({ body, principal, header }, ports: SecretPorts) {
    const team = teamToWrite(principal);
    adminOf(team, principal);
    const once = toIdempotentRequest(header, principal, `create-secret:${team}`, [body.name, digestOf(team, body)]);
    const { secret, replayed } = await create(team, body, once, ports);
    return { status: 201, body: secret, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});
