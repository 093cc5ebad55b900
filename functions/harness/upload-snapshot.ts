import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { createSnapshot } from "#shared/executions/snapshots.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { UploadSnapshotRequest, UploadSnapshotResponse } from "#shared/wire/harness.ts";

/** POST /harness-support/upload-snapshot: creates a snapshot and returns where to upload its files. */
export const uploadSnapshot = endpoint({
  request: { body: UploadSnapshotRequest },
  reply: { 200: UploadSnapshotResponse },
  errors: ["conflict", "resource_unavailable"],
  async run({ body, principal, header }, ports: RunPorts) {
    const head = await authorizeExecution(principal, header, ports);
    return { status: 200, body: { uploads: await createSnapshot(head, body, ports) } };
  },
});
