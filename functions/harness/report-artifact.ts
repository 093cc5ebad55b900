import { storeArtifactReport } from "#shared/artifacts/artifacts.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/harness.ts";

/** POST /harness-support/report-artifact: stores a reported artifact; the response says where to upload a file. */
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
