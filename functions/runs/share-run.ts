import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { setSharing } from "#shared/runs/sharing/share-run.ts";
import { ShareRunRequest, ShareRunResponse } from "#shared/wire/web/public-run.ts";

/**
 * POST /agent/runs/{runId}/share: shares a run with everybody who has its link. A `public_access` of null takes that
 * back. The public view shows the run's conversation and artifacts, and neither the runs below it nor its pending
 * follow-ups. The response has the link, unless the deployment has no web app. If the team's setting `sharing_allowed` is
 * false, the response is 403.
 */
export const shareRun = endpoint({
  request: { path: v.object({ runId: PathId }), body: ShareRunRequest },
  reply: { 200: ShareRunResponse },
  errors: ["feature_not_available"],
  async run({ path, body, principal, header }, ports: RunPorts) {
    const run = await visibleRun(path.runId, principal, ports);
    const idempotency = toIdempotentRequest(header, principal, `share-run:${path.runId}`, body);
    const { replayed } = await setSharing(run, body.public_access, idempotency, ports);
    const isLinked = body.public_access !== null && ports.webUrl !== undefined;
    const link = isLinked ? { session_link: `${ports.webUrl}/shared/${path.runId}` } : {};
    return { status: 200, body: link, headers: toReplayHeaders(replayed) };
  },
});
