import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/environment-ports.ts";
import { removeShare } from "#shared/environments/share-environment.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { ShareRequest, ShareResponse } from "#shared/wire/environment.ts";

/**
 * DELETE /agent/environments/{environmentUid}/share: stops sharing an environment with a person or by link. Revoking a
 * share that does not exist changes nothing.
 */
export const unshareEnvironment = endpoint({
  request: { path: v.object({ environmentUid: PathId }), body: ShareRequest },
  reply: { 200: ShareResponse },
  async run({ path, body, principal }, ports: EnvironmentPorts) {
    return { status: 200, body: await removeShare(path.environmentUid, body, principal, ports) };
  },
});
