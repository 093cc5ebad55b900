import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { saveCheckpoint } from "#shared/executions/snapshots.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { CommitSnapshotRequest, CommitSnapshotResponse } from "#shared/wire/harness.ts";

/** POST /harness-support/commit-snapshot: makes uploaded files the checkpoint from which the run continues. */
export const commitSnapshot = endpoint({
  request: { body: CommitSnapshotRequest },
  reply: { 200: CommitSnapshotResponse },
  errors: ["conflict"],
  async run({ body, principal, header }, ports: RunPorts) {
    await saveCheckpoint(await authorizeExecution(principal, header, ports), body, ports);
    return { status: 200, body: { generation: body.generation } };
  },
});
