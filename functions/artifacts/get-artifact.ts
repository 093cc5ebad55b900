import * as v from "valibot";
import { showArtifact } from "#shared/artifacts/artifacts.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { ArtifactResponse } from "#shared/wire/artifact.ts";

/** GET /agent/artifacts/{artifactUid}: returns an artifact with a time-limited URL of its file. */
export const getArtifact = endpoint({
  request: { path: v.object({ artifactUid: PathId }) },
  reply: { 200: ArtifactResponse },
  async run({ path, principal }, ports: RunPorts) {
    return { status: 200, body: await showArtifact(path.artifactUid, principal, ports) };
  },
});
