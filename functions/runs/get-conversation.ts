import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { pageQuery } from "#shared/lists/page.ts";
import { stepsOf } from "#shared/runs/conversation.ts";
import { conversationPage } from "#shared/runs/conversation-page.ts";
import type { Cursors } from "#shared/runs/cursor.ts";
import { liveRuns } from "#shared/runs/live.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { refuseUnreadable } from "#shared/runs/raw-transcript.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import { Conversation } from "#shared/wire/conversation.ts";

/** GET /agent/runs/{runId}/conversation: what was said in the run, as normalized blocks. */
export const getConversation = endpoint({
  request: { path: v.object({ runId: PathId }), query: pageQuery },
  reply: { 200: Conversation },
  errors: ["operation_not_supported"],
  async run({ path, query, principal }, ports: RunPorts & { readonly cursors: Cursors }) {
    const { head, body } = await visibleRun(path.runId, principal, ports);
    refuseUnreadable(head);
    const steps = await stepsOf(head, body, ports);
    const told = { conversationId: body.conversation_id, runs: [path.runId], steps };
    return { status: 200, body: await conversationPage(["run", path.runId], told, query, ports.cursors) };
  },
});

export const handler = getConversation.lambda(liveRuns);
