import { endpoint } from "#shared/http/endpoint.ts";
import { executionOf, finish } from "#shared/runs/execution.ts";
import { liveRuns } from "#shared/runs/live.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { storeUploaded } from "#shared/runs/raw-transcript.ts";
import { commitUploaded } from "#shared/runs/uploaded-artifacts.ts";
import { Empty, FinishTaskRequest } from "#shared/wire/harness.ts";

/** POST /harness-support/finish-task: the run has come to its end. */
export const finishTask = endpoint({
  request: { body: FinishTaskRequest },
  reply: { 200: Empty },
  async run({ body, principal, header }, ports: RunPorts) {
    const head = await executionOf(principal, header, ports);
    await commitUploaded(head, ports);
    await storeUploaded(head, ports);
    await finish(head, body, ports);
    return { status: 200, body: {} };
  },
});

export const handler = finishTask.lambda(liveRuns);
