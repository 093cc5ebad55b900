import { commitUploadedArtifacts } from "#shared/artifacts/uploaded-artifacts.ts";
import { finishLiveOutput, type LivePorts } from "#shared/conversations/live-output.ts";
import { storeUploadedTranscript } from "#shared/conversations/raw-transcript.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { finishExecution } from "#shared/executions/finish-task.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { FinishTaskRequest, FinishTaskResponse } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/finish-task: ends a run and records its result. The run becomes `SUCCEEDED`, `FAILED` or, with
 * `blocked`, `BLOCKED`. `messages` are appended to its conversation before. If a follow-up has not been delivered, the
 * run returns to `QUEUED` instead or, with `followups_stored`, continues with the follow-ups in the response. With
 * `waits`, an interactive or interrupted run waits for a follow-up, which a heartbeat delivers.
 */
export const finishTask = endpoint({
  request: { body: FinishTaskRequest },
  reply: { 200: FinishTaskResponse },
  async run({ body, principal, header }, ports: LivePorts) {
    const head = await authorizeExecution(principal, header, ports);
    await commitUploadedArtifacts(head, ports);
    await storeUploadedTranscript(head, ports);
    const response = await finishExecution(head, body, ports);
    await finishLiveOutput(head, body.messages ?? [], ports);
    return { status: 200, body: response };
  },
});
