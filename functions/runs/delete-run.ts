import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT, toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { deleteRunOnRequest } from "#shared/retention/delete-on-request.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/**
 * DELETE /agent/runs/{runId}: deletes a run that has ended. The runs below it and their conversations, transcripts and
 * artifacts are deleted with it. Only the run's creator and the admins of its team may delete it. If the run or a run
 * below it has not ended, the response is 409. Deleted runs return 404 at once; their files are deleted within about an
 * hour. If another run continues the conversation, the conversation keeps the run's turns. Usage reports and budgets
 * still count the run.
 */
export const deleteRun = endpoint({
  request: { path: v.object({ runId: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal, header }, ports: RunPorts) {
    const idempotency = toIdempotentRequest(header, principal, `delete-run:${path.runId}`, {});
    const { replayed } = await deleteRunOnRequest(path.runId, { principal, idempotency }, ports);
    return { status: 204, headers: toReplayHeaders(replayed) };
  },
});
