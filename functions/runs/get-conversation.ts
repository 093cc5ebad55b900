import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { stepsOf } from "#shared/runs/conversation.ts";
import { fitted } from "#shared/runs/fitted.ts";
import { liveRuns } from "#shared/runs/live.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import { Conversation } from "#shared/wire/conversation.ts";

/** GET /agent/runs/{runId}/conversation: what was said in the run, as normalized blocks. */
export const getConversation = endpoint({
  request: { path: v.object({ runId: PathId }) },
  reply: { 200: Conversation },
  async run({ path, principal }, ports: RunPorts) {
    const { head, body } = await visibleRun(path.runId, principal, ports);
    const steps = await stepsOf(head, body, ports);
    return { status: 200, body: fitted({ conversation_id: body.conversation_id, steps }) };
  },
});

export const handler = getConversation.lambda(liveRuns);
