import { commitUploaded } from "#shared/artifacts/uploaded-artifacts.ts";
import { storeUploaded } from "#shared/conversations/raw-transcript.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { finish } from "#shared/executions/finish-task.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { Empty, FinishTaskRequest } from "#shared/wire/harness.ts";

/** POST /harness-support/finish-task: the run has come to its end. */
export const finishTask = endpoint({
  request: { body: FinishTaskRequest },
  reply: { 200: Empty },
  async run({ body, principal, header }, ports: RunPorts) {
    const head = await authorizeExecution(principal, header, ports);
    await commitUploaded(head, ports);
    await storeUploaded(head, ports);
    await finish(head, body, ports);
    return { status: 200, body: {} };
  },
});
