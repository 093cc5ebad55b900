import * as v from "valibot";
import { readSteps } from "#shared/conversations/conversation.ts";
import { toConversationPage } from "#shared/conversations/conversation-page.ts";
import { refuseUnreadable } from "#shared/conversations/raw-transcript.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { Conversation } from "#shared/wire/conversation.ts";

/**
 * GET /agent/runs/{runId}/conversation: returns the conversation of a run as normalized messages. A `QUEUED` run
 * returns its prompt. Large tool outputs are truncated to 16 KiB; the transcript has the full text. A conversation that
 * a third-party harness stores in its own format returns 422.
 */
export const getConversation = endpoint({
  request: { path: v.object({ runId: PathId }), query: pageQuery },
  reply: { 200: Conversation },
  errors: ["operation_not_supported"],
  async run({ path, query, principal }, ports: RunPorts & { readonly cursors: Cursors }) {
    const { head, body } = await visibleRun(path.runId, principal, ports);
    refuseUnreadable(head);
    const steps = await readSteps(head, body, ports);
    const conversation = { conversationId: body.conversation_id, runs: [path.runId], steps };
    return { status: 200, body: await toConversationPage(["run", path.runId], conversation, query, ports.cursors) };
  },
});
