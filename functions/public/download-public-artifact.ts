import * as v from "valibot";
import { createPublicDownload } from "#shared/conversations/public-run.ts";
import { PathId, type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { REDIRECT } from "#shared/http/response.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { DownloadUrl } from "#shared/wire/artifact.ts";

/**
 * GET /public/runs/{sessionId}/artifacts/{artifactUid}: redirects to the content of a public run's artifact. Requires no
 * API key. Browsers save the file instead of showing it. With `redirect=false` the response is 200 and contains the URL.
 * If the run is not shared, or the artifact is another run's or has no content, the response is 404.
 */
export const downloadPublicArtifact = publicEndpoint({
  request: {
    path: v.object({ sessionId: PathId, artifactUid: PathId }),
    query: { redirect: one(v.picklist(["true", "false"])) },
  },
  reply: { 302: REDIRECT, 200: DownloadUrl },
  async run({ path, query }, ports: RunPorts & PublicPorts) {
    const { download_url, expires_at } = await createPublicDownload(path.sessionId, path.artifactUid, ports);
    return query.redirect === "false"
      ? { status: 200, body: { download_url, expires_at } }
      : { status: 302, location: download_url };
  },
});
