import * as v from "valibot";
import { createPublicDownload } from "#shared/conversations/public-run.ts";
import { downloadQuery, downloadReply, toDownloadResponse } from "#shared/http/download.ts";
import { PathId, type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/**
 * GET /public/runs/{sessionId}/artifacts/{artifactUid}: redirects to the content of a public run's artifact. Requires no
 * API key. Browsers save the file instead of showing it. With `redirect=false` the response is 200 and contains the URL.
 * If the run is not shared, or the artifact is another run's or has no content, the response is 404.
 */
export const downloadPublicArtifact = publicEndpoint({
  request: { path: v.object({ sessionId: PathId, artifactUid: PathId }), query: downloadQuery },
  reply: downloadReply,
  async run({ path, query }, ports: RunPorts & PublicPorts) {
    return toDownloadResponse(query, await createPublicDownload(path.sessionId, path.artifactUid, ports));
  },
});
