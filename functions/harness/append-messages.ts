import { finishLiveOutput, isWatched, type LivePorts } from "#shared/conversations/live-output.ts";
import { storeMessages } from "#shared/conversations/messages.ts";
import { assertSameExecution, authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { MessagesRequest, MessagesResponse } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/messages: appends messages to the conversation of a run. `first_sequence` must be the number of
 * the next message; a gap returns 400. A repeated batch is stored once. A message of the agent with a text and without
 * an action is the response that ends a turn: a text that comes before an action belongs in the action's message. A run
 * stores at most 20,000 messages and 100 MiB.
 */
export const appendMessages = endpoint({
  request: { body: MessagesRequest },
  reply: { 200: MessagesResponse },
  async run({ body, principal, header }, ports: LivePorts) {
    const head = await authorizeExecution(principal, header, ports);
    assertSameExecution(head, body.execution_id);
    const next_sequence = await storeMessages(head, body.first_sequence, body.messages, ports);
    await finishLiveOutput(head, body.messages, ports);
    return { status: 200, body: { next_sequence, watched: isWatched(head, ports.now()) } };
  },
});
