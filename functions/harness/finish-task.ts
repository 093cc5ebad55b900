import { commitUploadedArtifacts } from "#shared/artifacts/uploaded-artifacts.ts";
import { storeUploadedTranscript } from "#shared/conversations/raw-transcript.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { finishExecution } from "#shared/executions/finish-task.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { Empty, FinishTaskRequest } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/finish-task: ends a run and records its result. The run becomes `SUCCEEDED`, `FAILED` or, with
 * `blocked`, `BLOCKED`. If a follow-up has not been delivered, the run returns to `QUEUED` instead.
 */
export const finishTask = endpoint({
  request: { body: FinishTaskRequest },
  reply: { 200: Empty },
  async run({ body, principal, header }, ports: RunPorts) {
    const head = await authorizeExecution(principal, header, ports);
    await commitUploadedArtifacts(head, ports);
    await storeUploadedTranscript(head, ports);
    await finishExecution(head, body, ports);
    return { status: 200, body: {} };
  },
});
