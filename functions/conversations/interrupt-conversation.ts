import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { steerableLatestRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { endTurn } from "#shared/runs/turns/end-turn.ts";
import { InterruptRunResponse } from "#shared/wire/run.ts";

/**
 * POST /agent/conversations/{conversationId}/interrupt: interrupts the current turn of a conversation's latest run. Follows
 * the rules of an interrupt of that run. The response names the run.
 */
export const interruptConversation = endpoint({
  request: { path: v.object({ conversationId: PathId }) },
  reply: { 202: InterruptRunResponse },
  errors: ["operation_not_supported"],
  async run({ path, principal, header }, ports: RunPorts) {
    const found = await steerableLatestRun(path.conversationId, principal, ports);
    const once = toIdempotentRequest(header, principal, `conversation-interrupt:${path.conversationId}`, {});
    const { replayed } = await endTurn(found, { principal, once }, ports);
    return { status: 202, body: { run_id: found.head.run_id }, headers: toReplayHeaders(replayed) };
  },
});
