import type { EnvironmentPorts } from "#shared/environments/ports.ts";
import { shownEnvironment } from "#shared/environments/read-environments.ts";
import { createEnvironment as create } from "#shared/environments/write-environment.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requirePerson } from "#shared/teams/require-role.ts";
import { CreateEnvironmentRequest, EnvironmentItem } from "#shared/wire/environment.ts";

/** POST /agent/environments: repositories and setup commands under a name, for runs to begin with. */
export const createEnvironment = endpoint({
  request: { body: CreateEnvironmentRequest },
  reply: { 201: EnvironmentItem },
  async run({ body, principal, header }, ports: EnvironmentPorts) {
    const once = toIdempotentRequest(header, principal, "create-environment", body);
    const { environment, replayed } = await create(body, requirePerson(principal), once, ports);
    return {
      status: 201,
      body: await shownEnvironment(environment, principal, ports.table),
      ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}),
    };
  },
});
