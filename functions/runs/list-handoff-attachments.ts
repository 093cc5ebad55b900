import * as v from "valibot";
import { showHandoffFiles } from "#shared/executions/snapshots.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { HandoffAttachments } from "#shared/wire/attachment.ts";

/**
 * GET /agent/runs/{runId}/handoff/attachments: lists the snapshot files of the latest ended execution. Each file has a
 * download URL that expires after 15 minutes by default. The list is empty if the run has no snapshot.
 */
export const listHandoffAttachments = endpoint({
  request: { path: v.object({ runId: PathId }) },
  reply: { 200: HandoffAttachments },
  async run({ path, principal }, ports: RunPorts) {
    const { head } = await visibleRun(path.runId, principal, ports);
    return { status: 200, body: await showHandoffFiles(head, ports) };
  },
});
