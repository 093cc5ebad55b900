import { invalid, RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { keepFormUpload } from "#shared/files/kept-upload.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { deriveUuid } from "#shared/ids.ts";
import { loadCheckpoint, putCheckpoint, type SnapshotFile } from "#shared/records/checkpoint.ts";
import { isTerminal, RUN_CAPS } from "#shared/records/run.ts";
import { countUnchanged, type ExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { HandoffAttachments } from "#shared/wire/attachment.ts";
import type { CommitSnapshotRequest, UploadSnapshotRequest } from "#shared/wire/executions/snapshot.ts";
import type { UploadTarget } from "#shared/wire/harness.ts";
import { keepSetup, refuseOtherSetup } from "./setup-snapshots.ts";
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
      size_bytes === undefined || sha256 === undefined
        ? ports.files.uploadForm(file, { mostBytes: SNAPSHOT_BYTES, contentType: mime_type })
        : ports.files.uploadTarget(file, { sizeBytes: size_bytes, sha256, contentType: mime_type }),
    ),
  );
}

/** Names the stored file of each requested file. */
function toSnapshotFiles(
  head: ExecutingHead,
  generation: string,
  requested: UploadSnapshotRequest["files"],
): Snapshot["files"] {
  const files = requested.map((described, index) => ({
    ...described,
    file: fileKeys.snapshot(head.run_id, head.execution_id, generation, index),
  }));
  if (new Set(files.map(({ filename }) => filename)).size < files.length) {
    throw invalid("files", "must have unique filenames");
  }
  refuseAboveLimit(files.map(({ size_bytes = 0 }) => size_bytes));
  return files;
}

function refuseAboveLimit(sizes: readonly number[]): void {
  if (sizes.reduce((sum, size) => sum + size, 0) > SNAPSHOT_BYTES) {
    throw invalid("files", `must have at most ${SNAPSHOT_BYTES} bytes together`);
  }
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
  { generation, files, setup }: CommitSnapshotRequest,
  ports: RunPorts,
): Promise<void> {
  const body = setup === undefined ? undefined : await refuseOtherSetup(first, ports);
  const snapshot = await readSnapshot(first, generation, ports.table);
  if (snapshot === undefined) {
    throw invalid("generation", "there is no such snapshot of this execution: call upload-snapshot first");
  }
  const chosenFiles = files.map((name, index) => {
    const file = snapshot.files.find(({ filename }) => filename === name);
    if (file === undefined) throw invalid(`files[${index}]`, "is not a file of this snapshot");
    return file;
  });
  const stored = await Promise.all(chosenFiles.map((file) => toStoredFile(file, ports)));
  refuseAboveLimit(stored.map(({ size_bytes }) => size_bytes));
  await changeExecution(first, ports, async (head) => {
    const before = await loadCheckpoint(head, ports);
    if (before.generation === generation && before.execution_id === head.execution_id) return { result: undefined };
    const { messages, followups } = snapshot;
    const checkpoint = {
      ...before,
      generation,
      execution_id: head.execution_id,
      files: stored,
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
  if (setup !== undefined && body !== undefined) await keepSetup(first, body, setup, stored, ports);
}

/** Finds the uploaded file. @throws RunyardError if it is not uploaded */
async function toStoredFile(
  { filename, mime_type, file, size_bytes, sha256 }: Snapshot["files"][number],
  { files }: RunPorts,
): Promise<SnapshotFile> {
  const isForm = size_bytes === undefined || sha256 === undefined;
  const uploaded = await files.size(file);
  if (uploaded === undefined || !(isForm || uploaded === size_bytes)) {
    throw new RunyardError("conflict", { detail: `files: ${filename} is not uploaded`, retryable: false });
  }
  if (!isForm) return { filename, mime_type, size_bytes, file };
  const copy = await keepFormUpload(file, files);
  return { filename, mime_type, size_bytes: (await files.size(copy)) ?? uploaded, file: copy };
}

/**
 * Returns the snapshot files of the run's latest execution. Of a run that has ended, these are the ones of its last execution
 * only, with those that it uploaded at its end.
 */
export async function showHandoffFiles(head: RunHead, ports: RunPorts): Promise<HandoffAttachments> {
  const checkpoint = await loadCheckpoint(head, ports);
  const isEnded = isTerminal(head.state);
  const files = isEnded && checkpoint.execution_id !== head.execution_id ? [] : checkpoint.files;
  const finalFiles = isEnded ? await readFinalFiles(head, ports) : [];
  const attachments = [...files, ...finalFiles].map(async ({ filename, mime_type, file }) => {
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
  return files.flatMap(({ filename, mime_type, file, size_bytes }, index) => {
    const size = sizes[index];
    const isUploaded = size !== undefined && size === (size_bytes ?? size);
    return isUploaded ? [{ filename, mime_type, file, size_bytes: size }] : [];
  });
}
