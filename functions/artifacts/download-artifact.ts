import * as v from "valibot";
import { createArtifactDownload } from "#shared/artifacts/artifacts.ts";
import { downloadQuery, downloadReply, toDownloadResponse } from "#shared/http/download.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/**
 * GET /agent/artifacts/{artifactUid}/download: redirects to the content of an artifact. That is a file, a screenshot, or the
 * Markdown of a plan. The URL expires after 15 minutes by default and needs no credentials. With `redirect=false` the response is 200
 * and contains the URL. Pull requests and external references have no content and return 404.
 */
export const downloadArtifact = endpoint({
  request: { path: v.object({ artifactUid: PathId }), query: downloadQuery },
  reply: downloadReply,
  async run({ path, query, principal }, ports: RunPorts) {
    return toDownloadResponse(query, await createArtifactDownload(path.artifactUid, principal, ports));
  },
});
