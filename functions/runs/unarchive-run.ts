import * as v from "valibot";
import { showRun } from "#shared/conversations/show-run.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { setArchived } from "#shared/runs/archiving/archive-run.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunItem } from "#shared/wire/run.ts";

/**
 * POST /agent/runs/{runId}/unarchive: returns an archived run to the list of runs. For a run that is not archived, this
 * changes nothing.
 */
export const unarchiveRun = endpoint({
  request: { path: v.object({ runId: PathId }) },
  reply: { 200: RunItem },
  async run({ path, principal, header }, ports: RunPorts) {
    const { head, body } = await visibleRun(path.runId, principal, ports);
    const idempotency = toIdempotentRequest(header, principal, `unarchive-run:${path.runId}`, {});
    const archived = await setArchived(head, false, idempotency, ports);
    const item = await showRun({ head: archived.head, body }, ports);
    return { status: 200, body: item, headers: toReplayHeaders(archived.replayed) };
  },
});
