import * as v from "valibot";
import { showArtifact } from "#shared/artifacts/artifacts.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ArtifactResponse } from "#shared/wire/artifact.ts";

/**
 * GET /agent/artifacts/{artifactUid}: returns an artifact with its content or a download URL. A plan is returned inline
 * as Markdown; a file or a screenshot has a download URL that expires after 15 minutes by default. Pull requests and
 * external references have no content and return 404.
 */
export const getArtifact = endpoint({
  request: { path: v.object({ artifactUid: PathId }) },
  reply: { 200: ArtifactResponse },
  async run({ path, principal }, ports: RunPorts) {
    return { status: 200, body: await showArtifact(path.artifactUid, principal, ports) };
  },
});
