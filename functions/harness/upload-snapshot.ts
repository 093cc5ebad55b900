import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { createSnapshot } from "#shared/executions/snapshots.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { UploadSnapshotRequest, UploadSnapshotResponse } from "#shared/wire/executions/snapshot.ts";

/**
 * POST /harness-support/upload-snapshot: creates upload targets for the files of a snapshot. A snapshot becomes the
 * checkpoint of a run only after it is committed. A snapshot has at most 100 files and 2 GiB; a run has at most 500
 * snapshots.
 */
export const uploadSnapshot = endpoint({
  request: { body: UploadSnapshotRequest },
  reply: { 200: UploadSnapshotResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    const head = await authorizeExecution(principal, header, ports);
    return { status: 200, body: { uploads: await createSnapshot(head, body, ports) } };
  },
});
