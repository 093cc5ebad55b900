import { createTranscriptUpload } from "#shared/conversations/raw-transcript.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { TranscriptRequest, UploadTarget } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/transcript: creates an upload target for a third-party harness's raw transcript. The
 * conversation must be registered first. A transcript can have up to 64 MiB, and a run stores at most 1,000 of them.
 */
export const uploadTranscript = endpoint({
  request: { body: TranscriptRequest },
  reply: { 200: UploadTarget },
  errors: ["resource_not_found"],
  async run({ body, principal, header }, ports: RunPorts) {
    return {
      status: 200,
      body: await createTranscriptUpload(await authorizeExecution(principal, header, ports), body, ports),
    };
  },
});
