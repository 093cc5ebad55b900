import { reportArtifact as report } from "#shared/artifacts/artifacts.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/harness.ts";

/** POST /harness-support/report-artifact: where to upload a file, and then that it is there; of other kinds, all there is. */
export const reportArtifact = endpoint({
  request: { body: ReportArtifactRequest },
  reply: { 200: ReportArtifactResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    return { status: 200, body: await report(await authorizeExecution(principal, header, ports), body, ports) };
  },
});
