import * as v from "valibot";
import { findSessionConversation } from "#shared/conversations/shared-sessions.ts";
import { PathId, type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { SessionRedirect } from "#shared/wire/conversation.ts";

/**
 * GET /agent/sessions/{sessionId}/redirect: returns the conversation of a public session. Requires no API key. If the
 * session is not shared publicly, the response is 404, as for an unknown id.
 */
export const redirectSession = publicEndpoint({
  request: { path: v.object({ sessionId: PathId }) },
  reply: { 200: SessionRedirect },
  async run({ path }, ports: RunPorts & PublicPorts) {
    return { status: 200, body: { conversation_id: await findSessionConversation(path.sessionId, ports) } };
  },
});
