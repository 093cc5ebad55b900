import { storeArtifactReport } from "#shared/artifacts/artifacts.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/executions/report-artifact.ts";

/**
 * POST /harness-support/report-artifact: reports an artifact of a run. For a file or a screenshot, the first call
 * returns an upload target; after the upload, repeat the call to publish the artifact. Other types are published by the
 * first call. A run stores at most 1,000 artifacts and 5 GiB.
 */
export const reportArtifact = endpoint({
  request: { body: ReportArtifactRequest },
  reply: { 200: ReportArtifactResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    return {
      status: 200,
      body: await storeArtifactReport(await authorizeExecution(principal, header, ports), body, ports),
    };
  },
});
