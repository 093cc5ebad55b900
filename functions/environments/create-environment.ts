import { toEnvironmentItem } from "#shared/environments/environment.ts";
import type { EnvironmentPorts } from "#shared/environments/environment-ports.ts";
import { addEnvironment } from "#shared/environments/write-environment.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { CreateEnvironmentRequest, EnvironmentItem } from "#shared/wire/environment.ts";

/**
 * POST /agent/environments: creates an environment of repositories, setup commands and secrets. The caller's team owns
 * it unless `team` is false. Names are unique within the team or the person; a name in use returns 409. A team or a
 * person can have at most 200 environments, each up to 64 KiB as JSON.
 */
export const createEnvironment = endpoint({
  request: { body: CreateEnvironmentRequest },
  reply: { 201: EnvironmentItem },
  errors: ["operation_not_supported"],
  async run({ body, sentBody, principal, header }, ports: EnvironmentPorts) {
    const once = toIdempotentRequest(header, principal, "create-environment", body);
    const { environment, replayed } = await addEnvironment(
      { body, sentBody, principal: requirePerson(principal) },
      once,
      ports,
    );
    return {
      status: 201,
      body: toEnvironmentItem(environment, undefined, undefined),
      headers: toReplayHeaders(replayed),
    };
  },
});
