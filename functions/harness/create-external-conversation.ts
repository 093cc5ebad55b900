import { endpoint } from "#shared/http/endpoint.ts";
import { executionOf } from "#shared/runs/execution.ts";
import { liveRuns } from "#shared/runs/live.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { declareExternal } from "#shared/runs/raw-transcript.ts";
import { ExternalConversationRequest, ExternalConversationResponse } from "#shared/wire/harness.ts";

/** POST /harness-support/external-conversation: a harness of others writes the run's conversation, in a format of its own. */
export const createExternalConversation = endpoint({
  request: { body: ExternalConversationRequest },
  reply: { 200: ExternalConversationResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    const head = await executionOf(principal, header, ports);
    return { status: 200, body: { conversation_id: await declareExternal(head, body.format, ports) } };
  },
});

export const handler = createExternalConversation.lambda(liveRuns);
