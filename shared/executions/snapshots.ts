import { invalid, RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { deriveUuid } from "#shared/ids.ts";
import { loadCheckpoint, putCheckpoint, type SnapshotFile } from "#shared/records/checkpoint.ts";
import { isTerminal, RUN_CAPS } from "#shared/records/run.ts";
import { countUnchanged, type ExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { HandoffAttachments } from "#shared/wire/attachment.ts";
import type { CommitSnapshotRequest, UploadSnapshotRequest, UploadTarget } from "#shared/wire/harness.ts";
import { putSnapshot, readSnapshot, type Snapshot } from "./snapshot-store.ts";

/** The generation of the snapshot that an execution uploads at its end; it is never committed. */
const LEGACY = "__legacy";
/** Bytes of all files of one snapshot together. */
const SNAPSHOT_BYTES = 2 * 1024 * 1024 * 1024;

/** Creates a snapshot and returns an upload target for each of its files. The files are not visible before they are committed. */
export async function createSnapshot(
  head: ExecutingHead,
  request: UploadSnapshotRequest,
  ports: RunPorts,
): Promise<UploadTarget[]> {
  const { mode = "legacy", generation = LEGACY } = request;
  if (mode === "checkpoint" && request.generation === undefined) {
    throw invalid("generation", "is required with the mode checkpoint");
  }
  const files = toSnapshotFiles(head, generation, request.files);
  await storeSnapshot(head, generation, files, ports);
  return Promise.all(
    files.map(({ file, size_bytes, sha256, mime_type }) =>
      ports.files.uploadTarget(file, { sizeBytes: size_bytes, sha256, contentType: mime_type }),
    ),
  );
}

/** Names the stored file of each requested file. */
function toSnapshotFiles(
  head: ExecutingHead,
  generation: string,
  requested: UploadSnapshotRequest["files"],
): Snapshot["files"] {
  const files = requested.map(({ filename, mime_type, size_bytes, sha256 }, index) => {
    const where = `files[${index}]`;
    if (size_bytes === undefined) throw invalid(`${where}.size_bytes`, "is required: an upload is bound to its length");
    if (sha256 === undefined) throw invalid(`${where}.sha256`, "is required: an upload is bound to its content");
    const file = fileKeys.snapshot(head.run_id, head.execution_id, generation, index);
    return { filename, mime_type, size_bytes, sha256, file };
  });
  if (new Set(files.map(({ filename }) => filename)).size < files.length) {
    throw invalid("files", "must have unique filenames");
  }
  if (files.reduce((sum, { size_bytes }) => sum + size_bytes, 0) > SNAPSHOT_BYTES) {
    throw invalid("files", `must have at most ${SNAPSHOT_BYTES} bytes together`);
  }
  return files;
}

/**
 * Stores the snapshot, if it is not stored yet, in one transaction with the head, so that its numbers of messages and follow-ups are
 * exact. No event records it, so the number of snapshots detects conflicts.
 */
function storeSnapshot(
  first: ExecutingHead,
  generation: string,
  files: Snapshot["files"],
  ports: RunPorts,
): Promise<void> {
  return changeExecution(first, ports, async (head) => {
    const stored = await readSnapshot(head, generation, ports.table);
    if (stored !== undefined && canonicalJson(stored.files) !== canonicalJson(files)) {
      throw new RunyardError("conflict", {
        detail: "generation: this execution has a snapshot of that name with other files",
        retryable: false,
      });
    }
    if (stored !== undefined) return { result: undefined };
    if (head.snapshots >= RUN_CAPS.snapshots) {
      throw new RunyardError("resource_unavailable", {
        status: 429,
        detail: `a run stores at most ${RUN_CAPS.snapshots} snapshots`,
      });
    }
    const snapshot: Snapshot = { files, messages: head.messages, followups: head.followups_stored };
    return {
      change: {
        events: [],
        set: { heartbeat_at: ports.now(), snapshots: head.snapshots + 1 },
        if: { snapshots: countUnchanged(head.snapshots) },
        also: { snapshot: putSnapshot(head, generation, snapshot) },
      },
      result: undefined,
    };
  });
}

/** Makes an uploaded snapshot the checkpoint from which the next execution continues. A repeat changes nothing. */
export async function saveCheckpoint(
  first: ExecutingHead,
  { generation, files }: CommitSnapshotRequest,
  ports: RunPorts,
): Promise<void> {
  const snapshot = await readSnapshot(first, generation, ports.table);
  if (snapshot === undefined) {
    throw invalid("generation", "there is no such snapshot of this execution: call upload-snapshot first");
  }
  const kept = files.map((name, index) => {
    const file = snapshot.files.find(({ filename }) => filename === name);
    if (file === undefined) throw invalid(`files[${index}]`, "is not a file of this snapshot");
    return file;
  });
  await Promise.all(
    kept.map(async ({ filename, file, size_bytes }) => {
      if ((await ports.files.size(file)) === size_bytes) return;
      throw new RunyardError("conflict", { detail: `files: ${filename} is not uploaded`, retryable: false });
    }),
  );
  await changeExecution(first, ports, async (head) => {
    const before = await loadCheckpoint(head, ports);
    if (before.generation === generation && before.execution_id === head.execution_id) return { result: undefined };
    const { messages, followups } = snapshot;
    const checkpoint = {
      ...before,
      generation,
      execution_id: head.execution_id,
      files: kept.map(({ sha256: _, ...file }) => file),
      messages,
      followups,
    };
    return {
      change: {
        events: [{ type: "checkpoint_saved", data: { generation } }],
        set: { heartbeat_at: ports.now(), losses: 0, checkpoint: true },
        remove: ["restarts"],
        also: { checkpoint: putCheckpoint(head.run_id, checkpoint) },
      },
      result: undefined,
    };
  });
}

/** Returns the snapshot files of the latest execution that has ended: the committed ones, and those it uploaded at its end. */
export async function showHandoffFiles(head: RunHead, ports: RunPorts): Promise<HandoffAttachments> {
  const { files } = await loadCheckpoint(head, ports);
  const left = isTerminal(head.state) ? await readFinalFiles(head, ports) : [];
  const attachments = [...files, ...left].map(async ({ filename, mime_type, file }) => {
    const { url } = await ports.files.downloadUrl(file, { filename, contentType: mime_type });
    return { attachment_id: deriveUuid(head.run_id, file), filename, download_url: url, mime_type };
  });
  return { attachments: await Promise.all(attachments) };
}

/** The files that the last execution uploaded at its end, as far as they have arrived. */
async function readFinalFiles(head: RunHead, ports: RunPorts): Promise<SnapshotFile[]> {
  const { run_id, execution_id } = head;
  if (execution_id === undefined) return [];
  const snapshot = await readSnapshot({ run_id, execution_id }, LEGACY, ports.table);
  const files = snapshot?.files ?? [];
  const sizes = await Promise.all(files.map(({ file }) => ports.files.size(file)));
  return files.filter(({ size_bytes }, index) => sizes[index] === size_bytes);
}
