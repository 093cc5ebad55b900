import * as v from "valibot";
import { createArtifactDownload } from "#shared/artifacts/artifacts.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { REDIRECT } from "#shared/http/response.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { DownloadUrl } from "#shared/wire/artifact.ts";

/**
 * GET /agent/artifacts/{artifactUid}/download: redirects to the content of an artifact. That is a file, a screenshot, or the
 * Markdown of a plan. The URL expires after 15 minutes by default and needs no credentials. With `redirect=false` the response is 200
 * and contains the URL. Pull requests and external references have no content and return 404.
 */
export const downloadArtifact = endpoint({
  request: { path: v.object({ artifactUid: PathId }), query: { redirect: one(v.picklist(["true", "false"])) } },
  reply: { 302: REDIRECT, 200: DownloadUrl },
  async run({ path, query, principal }, ports: RunPorts) {
    const { download_url, expires_at } = await createArtifactDownload(path.artifactUid, principal, ports);
    // A web page cannot read the target of a redirect.
    return query.redirect === "false"
      ? { status: 200, body: { download_url, expires_at } }
      : { status: 302, location: download_url };
  },
});
