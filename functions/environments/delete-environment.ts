import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/ports.ts";
import { deleteEnvironment as remove } from "#shared/environments/write-environment.ts";
import { endpoint, NO_CONTENT, PathId } from "#shared/http/endpoint.ts";

/** DELETE /agent/environments/{environmentUid}: what still names it makes no run until it names another. */
export const deleteEnvironment = endpoint({
  request: { path: v.object({ environmentUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: EnvironmentPorts) {
    await remove(path.environmentUid, principal, ports);
    return { status: 204 };
  },
});
