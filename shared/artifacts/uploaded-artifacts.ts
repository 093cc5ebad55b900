import { fileKeys } from "#shared/files/file-store.ts";
import { uuidOf } from "#shared/ids.ts";
import { isUploaded, parseArtifact, type UploadedArtifact } from "#shared/records/artifact.ts";
import { type ExecutingHead, isExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution, staleExecutionError } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Update } from "#shared/table/table.ts";
import type { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/harness.ts";
import { artifactFull, artifactPuts, createdChange, hasRoom, roomFor } from "./artifact-changes.ts";

/** A report of bytes that the execution uploads. */
export type UploadReport = Extract<ReportArtifactRequest, { artifact_type: "FILE" | "SCREENSHOT" }>;

/**
 * The first report makes a place for the file and answers where to upload it; the same report again, once the bytes are there,
 * makes it visible. The uid is made of the file itself, so repeats name the same artifact.
 */
export async function reportUpload(
  head: ExecutingHead,
  report: UploadReport,
  ports: RunPorts,
): Promise<ReportArtifactResponse> {
  const uid = uidOf(head, report);
  const stored = await storedUpload(head, uid, ports);
  const artifact = stored ?? (await place(head, uid, report, ports));
  if (artifact.committed_at !== undefined) return { artifact_uid: uid };
  const size = stored === undefined ? undefined : await ports.files.size(artifact.file);
  if (size === artifact.size_bytes) {
    await commit(head, artifact, ports);
    return { artifact_uid: uid };
  }
  const upload = await ports.files.uploadTarget(artifact.file, {
    sizeBytes: artifact.size_bytes,
    sha256: artifact.sha256,
    contentType: artifact.mime_type,
  });
  return { artifact_uid: uid, upload };
}

function uidOf({ run_id, execution_id }: ExecutingHead, { artifact_type, data }: UploadReport): string {
  const name = artifact_type === "FILE" ? data.filepath : `${artifact_type} ${data.mime_type}`;
  return uuidOf(run_id, execution_id, name, data.sha256, String(data.size_bytes));
}

async function storedUpload(
  { run_id }: ExecutingHead,
  uid: string,
  { table }: RunPorts,
): Promise<UploadedArtifact | undefined> {
  const item = await table.get(keys.artifact(run_id, uid));
  const artifact = item === undefined ? undefined : parseArtifact(item);
  return artifact !== undefined && isUploaded(artifact) ? artifact : undefined;
}

async function place(
  head: ExecutingHead,
  uid: string,
  report: UploadReport,
  ports: RunPorts,
): Promise<UploadedArtifact> {
  const { run_id, execution_id } = head;
  const place = { uid, run_id, execution_id, file: fileKeys.artifact(run_id, execution_id, uid) };
  const artifact: UploadedArtifact =
    report.artifact_type === "FILE"
      ? { ...place, artifact_type: report.artifact_type, ...report.data }
      : { ...place, artifact_type: report.artifact_type, ...report.data };
  try {
    const [put, pointer] = artifactPuts(artifact);
    await ports.table.transact([{ ...put, if: { pk: { exists: false } } }, pointer, countPlaced(head, artifact)]);
    return artifact;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
  const other = await storedUpload(head, uid, ports);
  if (other !== undefined) return other;
  const now = await ports.runs.head(run_id);
  if (now === undefined || !isExecutingHead(now) || now.execution_id !== execution_id) throw staleExecutionError();
  throw artifactFull();
}

/** What may be uploaded counts, not only what was: a place that nobody reports again is room taken all the same. */
function countPlaced(head: ExecutingHead, { size_bytes }: UploadedArtifact): Update {
  return {
    kind: "update",
    key: keys.head(head.run_id),
    add: roomFor(size_bytes),
    if: {
      execution_id: { eq: head.execution_id },
      state: { eq: head.state },
      ...hasRoom(size_bytes),
    },
  };
}

async function commit(first: ExecutingHead, artifact: UploadedArtifact, ports: RunPorts): Promise<void> {
  const now = ports.now();
  await changeExecution(first, ports, (head) => ({
    change: {
      ...createdChange(head, artifact, artifact.size_bytes, now),
      also: [
        {
          kind: "update",
          key: keys.artifact(artifact.run_id, artifact.uid),
          set: { committed_at: now },
          if: { committed_at: { exists: false } },
        },
      ],
    },
    result: undefined,
  })).catch((error: unknown) => {
    // Another report of the same file has committed it.
    if (!(error instanceof RunChangedError)) throw error;
  });
}

/** Files that were uploaded by an execution but not reported a second time become visible with its end. */
export async function commitUploaded(head: ExecutingHead, ports: RunPorts): Promise<void> {
  const { items } = await ports.runs.query({ pk: keys.head(head.run_id).pk, prefix: "ARTIFACT#" });
  for (const artifact of items.map(parseArtifact).filter(isUploaded)) {
    if (artifact.committed_at !== undefined || artifact.execution_id !== head.execution_id) continue;
    if ((await ports.files.size(artifact.file)) === artifact.size_bytes) await commit(head, artifact, ports);
  }
}
