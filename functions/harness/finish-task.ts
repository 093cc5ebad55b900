import { commitUploadedArtifacts } from "#shared/artifacts/uploaded-artifacts.ts";
import { storeUploadedTranscript } from "#shared/conversations/raw-transcript.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { finishExecution } from "#shared/executions/finish-task.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { Empty, FinishTaskRequest } from "#shared/wire/harness.ts";

/** POST /harness-support/finish-task: ends the run, or continues it with a waiting follow-up. */
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
