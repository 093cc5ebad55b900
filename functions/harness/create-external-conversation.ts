import { declareExternalConversation } from "#shared/conversations/raw-transcript.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ExternalConversationRequest, ExternalConversationResponse } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/external-conversation: registers a conversation that a third-party harness stores itself.
 * Upload the transcript of the conversation in the given format afterwards.
 */
export const createExternalConversation = endpoint({
  request: { body: ExternalConversationRequest },
  reply: { 200: ExternalConversationResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    const head = await authorizeExecution(principal, header, ports);
    return { status: 200, body: { conversation_id: await declareExternalConversation(head, body.format, ports) } };
  },
});
