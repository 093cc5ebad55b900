import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/environment-ports.ts";
import { showEnvironment } from "#shared/environments/read-environments.ts";
import { changeEnvironment } from "#shared/environments/write-environment.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { EnvironmentItem, UpdateEnvironmentRequest } from "#shared/wire/environment.ts";

/**
 * PUT /agent/environments/{environmentUid}: updates an environment. Members that are absent or null keep their values;
 * an empty value (`""` or `[]`) clears one. Runs that have started keep the previous environment.
 */
export const updateEnvironment = endpoint({
  request: { path: v.object({ environmentUid: PathId }), body: UpdateEnvironmentRequest },
  reply: { 200: EnvironmentItem },
  errors: ["operation_not_supported"],
  async run({ path, body, sentBody, principal }, ports: EnvironmentPorts) {
    const environment = await changeEnvironment(
      path.environmentUid,
      { body, sentBody, principal: requirePerson(principal) },
      ports,
    );
    return { status: 200, body: await showEnvironment(environment, principal, ports.table) };
  },
});
