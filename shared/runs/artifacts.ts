import { notFound, RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { uuidOf } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Item, type Update } from "#shared/table/table.ts";
import type { ArtifactResponse } from "#shared/wire/artifact.ts";
import type { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/harness.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { type Artifact, parseArtifact } from "./artifact.ts";
import { changeExecution, fenced } from "./execution.ts";
import type { RunPorts } from "./ports.ts";
import { unseen, visibleRun } from "./read-run.ts";
import { RUN_CAPS } from "./run.ts";
import { type ExecutingHead, isExecutingHead } from "./run-head.ts";
import { Raced } from "./run-store.ts";

/**
 * report-artifact. The first report makes a place for the file and answers where to upload it; the same report again,
 * once the bytes are there, makes it visible. The uid is made of the file itself, so repeats name the same artifact.
 */
export async function reportArtifact(
  head: ExecutingHead,
  request: ReportArtifactRequest,
  ports: RunPorts,
): Promise<ReportArtifactResponse> {
  const { data } = request;
  const uid = uuidOf(head.run_id, head.execution_id, data.filepath, data.sha256, String(data.size_bytes));
  const stored = await ports.table.get(keys.artifact(head.run_id, uid));
  const artifact = stored === undefined ? await place(head, uid, request, ports) : parseArtifact(stored);
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

async function place(
  head: ExecutingHead,
  uid: string,
  { data }: ReportArtifactRequest,
  ports: RunPorts,
): Promise<Artifact> {
  const artifact: Artifact = {
    uid,
    run_id: head.run_id,
    execution_id: head.execution_id,
    artifact_type: "FILE",
    ...data,
    file: fileKeys.artifact(head.run_id, head.execution_id, uid),
  };
  try {
    await ports.table.transact([
      { kind: "put", item: { ...keys.artifact(head.run_id, uid), v: 1, ...artifact }, if: { pk: { exists: false } } },
      { kind: "put", item: { ...keys.artifactRun(uid), v: 1, run_id: head.run_id } },
      countPlaced(head, data.size_bytes),
    ]);
    return artifact;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
  const other = await ports.table.get(keys.artifact(head.run_id, uid));
  if (other !== undefined) return parseArtifact(other);
  const now = await ports.runs.head(head.run_id);
  if (now === undefined || !isExecutingHead(now) || now.execution_id !== head.execution_id) throw fenced();
  throw new RunyardError("resource_unavailable", {
    status: 429,
    detail: `a run has ${RUN_CAPS.artifacts} artifacts of ${RUN_CAPS.artifactBytes} bytes together`,
  });
}

/** What may be uploaded counts, not only what was: a place that nobody reports again is room taken all the same. */
function countPlaced(head: ExecutingHead, sizeBytes: number): Update {
  return {
    kind: "update",
    key: keys.head(head.run_id),
    add: { placed_artifacts: 1, placed_bytes: sizeBytes },
    if: {
      execution_id: { eq: head.execution_id },
      state: { eq: head.state },
      placed_artifacts: { absentOr: { below: RUN_CAPS.artifacts } },
      placed_bytes: { absentOr: { below: RUN_CAPS.artifactBytes - sizeBytes + 1 } },
    },
  };
}

async function commit(first: ExecutingHead, artifact: Artifact, ports: RunPorts): Promise<void> {
  const now = ports.now();
  await changeExecution(first, ports, (head) => ({
    change: {
      touch: true,
      events: [
        {
          type: "artifact_created",
          data: {
            artifact_uid: artifact.uid,
            artifact_type: "FILE",
            filepath: artifact.filepath,
            size_bytes: artifact.size_bytes,
          },
        },
      ],
      set: {
        artifact_types: [...new Set([...(head.artifact_types ?? []), artifact.artifact_type])],
        artifacts: head.artifacts + 1,
        artifact_bytes: head.artifact_bytes + artifact.size_bytes,
        beat_at: now,
      },
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
    if (!(error instanceof Raced)) throw error;
  });
}

/** Files that were uploaded by an execution but not reported a second time become visible with its end. */
export async function commitUploaded(head: ExecutingHead, ports: RunPorts): Promise<void> {
  const { items } = await ports.runs.query({ pk: keys.head(head.run_id).pk, prefix: "ARTIFACT#" });
  for (const artifact of items.map(parseArtifact)) {
    if (artifact.committed_at !== undefined || artifact.execution_id !== head.execution_id) continue;
    if ((await ports.files.size(artifact.file)) === artifact.size_bytes) await commit(head, artifact, ports);
  }
}

/** An artifact by its uid, with a time-limited URL. */
export async function readArtifact(uid: string, principal: Principal, ports: RunPorts): Promise<ArtifactResponse> {
  const pointer = await ports.table.get(keys.artifactRun(uid));
  const runId = runOf(pointer);
  if (runId === undefined) throw unseen(principal, "artifact");
  await visibleRun(runId, principal, ports, "artifact");
  const item = await ports.table.get(keys.artifact(runId, uid));
  const artifact = item === undefined ? undefined : parseArtifact(item);
  if (artifact?.committed_at === undefined) throw notFound("artifact");
  const { filename, mime_type, filepath, title, description, size_bytes } = artifact;
  const { url, expiresAt } = await ports.files.downloadUrl(artifact.file, { filename, contentType: mime_type });
  return {
    artifact_uid: uid,
    artifact_type: "FILE",
    created_at: toTimestamp(artifact.committed_at),
    data: {
      download_url: url,
      expires_at: toTimestamp(expiresAt),
      content_type: mime_type,
      filepath,
      filename,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      size_bytes,
    },
  };
}

const runOf = (pointer: Item | undefined): string | undefined =>
  typeof pointer?.["run_id"] === "string" ? pointer["run_id"] : undefined;
