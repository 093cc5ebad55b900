import { fileKeys } from "#shared/files/file-store.ts";
import { deriveUuid } from "#shared/ids.ts";
import { isUploaded, type UploadedArtifact } from "#shared/records/artifact.ts";
import { type ExecutingHead, isExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import { changeExecution, changeRun, staleExecutionError } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import type { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/executions/report-artifact.ts";
import { artifactLimitError, toCreatedChange } from "./artifact-changes.ts";
import { commitArtifact, listArtifacts, placeUpload, readArtifact } from "./artifact-store.ts";

/** A report of a file that the execution uploads. */
export type UploadReport = Extract<ReportArtifactRequest, { artifact_type: "FILE" | "SCREENSHOT" }>;

/**
 * Stores a reported upload. The first report creates the artifact and returns its upload target; the same report after the upload
 * makes it visible. The uid is derived from the file, so that repeats refer to the same artifact.
 */
export async function reportUpload(
  head: ExecutingHead,
  report: UploadReport,
  ports: RunPorts,
): Promise<ReportArtifactResponse> {
  const uid = toUid(head, report);
  const stored = await readUpload(head, uid, ports);
  const artifact = stored ?? (await createUpload(head, uid, report, ports));
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

function toUid({ run_id, execution_id }: ExecutingHead, { artifact_type, data }: UploadReport): string {
  const name = artifact_type === "FILE" ? data.filepath : `${artifact_type} ${data.mime_type}`;
  return deriveUuid(run_id, execution_id, name, data.sha256, String(data.size_bytes));
}

async function readUpload(
  { run_id }: ExecutingHead,
  uid: string,
  { table }: RunPorts,
): Promise<UploadedArtifact | undefined> {
  const artifact = await readArtifact(run_id, uid, table);
  return artifact !== undefined && isUploaded(artifact) ? artifact : undefined;
}

async function createUpload(
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
  if (await placeUpload(head, artifact, ports.table)) return artifact;
  const other = await readUpload(head, uid, ports);
  if (other !== undefined) return other;
  const now = await ports.runs.head(run_id);
  if (now === undefined || !isExecutingHead(now) || now.execution_id !== execution_id) throw staleExecutionError();
  throw artifactLimitError();
}

async function commit(first: ExecutingHead, artifact: UploadedArtifact, ports: RunPorts): Promise<void> {
  const now = ports.now();
  await changeExecution(first, ports, (head) => ({
    change: {
      ...toCreatedChange(head, artifact, artifact.size_bytes, now),
      also: { artifact: commitArtifact(artifact, now) },
    },
    result: undefined,
  })).catch(ignoreCommitted);
}

/** Another report of the same file, or another message about the run's end, has committed it. */
function ignoreCommitted(error: unknown): void {
  if (!(error instanceof RunChangedError)) throw error;
}

/** Makes the files visible that the execution has uploaded but not reported a second time. */
export async function commitUploadedArtifacts(head: ExecutingHead, ports: RunPorts): Promise<void> {
  for await (const artifact of findUploads(head, ports)) {
    if (artifact.execution_id === head.execution_id) await commit(head, artifact, ports);
  }
}

/** Makes the files visible that executions have uploaded which ended in any other way than by finishing. */
export async function commitAbandonedArtifacts(first: RunHead, ports: RunPorts): Promise<void> {
  const now = ports.now();
  const isAtWork = (head: RunHead, { execution_id }: UploadedArtifact) =>
    isExecutingHead(head) && head.execution_id === execution_id;
  for await (const artifact of findUploads(first, ports)) {
    await changeRun(first, ports, (head) => {
      if (isAtWork(head, artifact)) return { result: undefined };
      const created = toCreatedChange(head, artifact, artifact.size_bytes);
      return { change: { ...created, also: { artifact: commitArtifact(artifact, now) } }, result: undefined };
    }).catch(ignoreCommitted);
  }
}

/** Finds the artifacts of a run that are uploaded in full and not visible. */
async function* findUploads(head: RunHead, ports: RunPorts): AsyncGenerator<UploadedArtifact> {
  if (head.placed_artifacts === 0) return;
  for (const artifact of (await listArtifacts(head.run_id, ports.table)).filter(isUploaded)) {
    const isPending = artifact.committed_at === undefined;
    if (isPending && (await ports.files.size(artifact.file)) === artifact.size_bytes) yield artifact;
  }
}
