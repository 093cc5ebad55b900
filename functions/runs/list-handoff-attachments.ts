import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { liveRuns } from "#shared/runs/live.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import { HandoffAttachments } from "#shared/wire/attachment.ts";

/** GET /agent/runs/{runId}/handoff/attachments: snapshot files of the latest execution that has ended. */
export const listHandoffAttachments = endpoint({
  request: { path: v.object({ runId: PathId }) },
  reply: { 200: HandoffAttachments },
  async run({ path, principal }, ports: RunPorts) {
    await visibleRun(path.runId, principal, ports);
    // Executions leave no snapshots yet.
    const body: HandoffAttachments = { attachments: [] };
    return { status: 200, body };
  },
});

export const handler = listHandoffAttachments.lambda(liveRuns);
