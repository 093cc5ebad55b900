import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/environment-ports.ts";
import { addShare } from "#shared/environments/share-environment.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { ShareRequest, ShareResponse } from "#shared/wire/environment.ts";

/**
 * POST /agent/environments/{environmentUid}/share: shares an environment with a person or by link. A person can list
 * the environment and use it for runs; the limit is 50 people. A link only shows the environment. Its URL is returned
 * once and replaces any earlier link.
 */
export const shareEnvironment = endpoint({
  request: { path: v.object({ environmentUid: PathId }), body: ShareRequest },
  reply: { 200: ShareResponse },
  async run({ path, body, principal, header }, ports: EnvironmentPorts) {
    const once = toIdempotentRequest(header, principal, `share-environment:${path.environmentUid}`, body);
    const { shared, replayed } = await addShare({ uid: path.environmentUid, request: body, principal, once }, ports);
    return { status: 200, body: shared, headers: toReplayHeaders(replayed) };
  },
});
