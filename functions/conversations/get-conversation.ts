import * as v from "valibot";
import { readSteps } from "#shared/conversations/conversation.ts";
import { toConversationPage } from "#shared/conversations/conversation-page.ts";
import { readConversationRuns } from "#shared/conversations/conversation-runs.ts";
import { refuseUnreadable } from "#shared/conversations/raw-transcript.ts";
import { notFound } from "#shared/errors.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { listConversationRuns } from "#shared/runs/conversation-store.ts";
import { notVisibleError } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { sees } from "#shared/runs/run-tree.ts";
import { Conversation } from "#shared/wire/conversation.ts";

/**
 * GET /agent/conversations/{conversationId}: returns all runs of a conversation as one, oldest first. Runs that the
 * caller may not see are left out. Large tool outputs are truncated to 16 KiB. If a third-party harness stores a run in
 * its own format, the response is 422.
 */
export const getConversation = endpoint({
  request: { path: v.object({ conversationId: PathId }), query: pageQuery },
  reply: { 200: Conversation },
  errors: ["operation_not_supported"],
  async run({ path, query, principal }, ports: RunPorts & { readonly cursors: Cursors }) {
    const id = path.conversationId;
    const ids = await listConversationRuns(id, ports.table);
    const runs = await readConversationRuns(ids, ports);
    // The first run decides, or the next one where the first was deleted with its turns.
    const [first] = runs;
    if (first === undefined || !sees(principal, first.head, first.body)) {
      throw notVisibleError(principal, "conversation");
    }
    if (first.body.conversation_id !== id) throw notFound("conversation");
    // A run's key sees a descendant, but not the runs of others that continue its conversation.
    const visibleRuns = runs.filter(({ head, body }) => sees(principal, head, body));
    for (const { head } of visibleRuns) refuseUnreadable(head);
    const steps = await Promise.all(visibleRuns.map(({ head, body }) => readSteps(head, body, ports)));
    const conversation = { conversationId: id, runs: ids, steps: steps.flat() };
    return { status: 200, body: await toConversationPage(["conversation", id], conversation, query, ports.cursors) };
  },
});
