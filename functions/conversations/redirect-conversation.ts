import * as v from "valibot";
import { findConversationSession } from "#shared/conversations/shared-sessions.ts";
import { PathId, type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ConversationRedirect } from "#shared/wire/conversation.ts";

/**
 * GET /agent/conversations/{conversationId}/redirect: returns the latest public session of a conversation. Requires no
 * API key. If no session of the conversation is shared publicly, the response is 404, as for an unknown id.
 */
export const redirectConversation = publicEndpoint({
  request: { path: v.object({ conversationId: PathId }) },
  reply: { 200: ConversationRedirect },
  async run({ path }, ports: RunPorts & PublicPorts) {
    return { status: 200, body: { session_id: await findConversationSession(path.conversationId, ports) } };
  },
});
