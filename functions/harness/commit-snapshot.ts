import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { saveCheckpoint } from "#shared/executions/snapshots.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { CommitSnapshotRequest, CommitSnapshotResponse } from "#shared/wire/executions/snapshot.ts";

/**
 * POST /harness-support/commit-snapshot: commits an uploaded snapshot as the run's checkpoint. Later executions start
 * from this checkpoint. All files must be uploaded, otherwise the response is 409.
 */
export const commitSnapshot = endpoint({
  request: { body: CommitSnapshotRequest },
  reply: { 200: CommitSnapshotResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    await saveCheckpoint(await authorizeExecution(principal, header, ports), body, ports);
    return { status: 200, body: { generation: body.generation } };
  },
});
