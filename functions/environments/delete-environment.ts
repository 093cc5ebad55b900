import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/environment-ports.ts";
import { removeEnvironment } from "#shared/environments/write-environment.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";

/**
 * DELETE /agent/environments/{environmentUid}: deletes an environment. Schedules and identities that refer to it create
 * no runs until they name another environment.
 */
export const deleteEnvironment = endpoint({
  request: { path: v.object({ environmentUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: EnvironmentPorts) {
    await removeEnvironment(path.environmentUid, principal, ports);
    return { status: 204 };
  },
});
