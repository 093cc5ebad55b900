import { fileKeys } from "#shared/files/file-store.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { deriveUuid, sha256 } from "#shared/ids.ts";
import type { StoredArtifact, StoredLink, StoredPlan } from "#shared/records/artifact.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import { type ExecutingHead, parseOwner } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import { putReference } from "#shared/runs/references/reference-store.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { AttributeChange } from "#shared/runs/transition.ts";
import type { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/executions/report-artifact.ts";
import { artifactLimitError, toCreatedChange } from "./artifact-changes.ts";
import { hasSpace, placedSpace, putArtifact, readArtifact } from "./artifact-store.ts";

type Report<T extends ReportArtifactRequest["artifact_type"]> = Extract<ReportArtifactRequest, { artifact_type: T }>;

/**
 * Stores a reported pull request or external reference. The same report again is the same artifact, and that of a pull request
 * takes the status of the latest report that has one.
 */
export async function reportLink(
  first: ExecutingHead,
  report: Report<"PULL_REQUEST" | "EXTERNAL_REFERENCE">,
  ports: RunPorts,
): Promise<ReportArtifactResponse> {
  const { run_id, execution_id } = first;
  const { status, ...named } = { status: undefined, ...report.data };
  const uid = deriveUuid(run_id, report.artifact_type, canonicalJson(named));
  const now = ports.now();
  const place = { uid, run_id, execution_id, committed_at: now };
  const artifact: StoredLink =
    report.artifact_type === "PULL_REQUEST"
      ? { ...place, artifact_type: report.artifact_type, ...report.data }
      : { ...place, artifact_type: report.artifact_type, ...report.data };
  return changeExecution(first, ports, async (head) => {
    const before = await readArtifact(run_id, uid, ports.table);
    const result = { artifact_uid: uid };
    if (before !== undefined) {
      if (status === undefined || ("status" in before && before.status === status)) return { result };
      const { committed_at = now } = before;
      return { change: toVersionChange(head, toChange(head, { ...artifact, committed_at }, 0, now)), result };
    }
    const change = toChange(head, artifact, 0, now);
    const reference = putReference(parseOwner(head), artifact.url, run_id);
    return { change: { ...change, also: { ...change.also, reference } }, result };
  });
}

/**
 * Stores a reported plan. A report with the same document_uid replaces the content of the artifact; an identical report changes
 * nothing. Each version is a file, so that reading a run does not read the texts of its plans.
 */
export async function reportPlan(
  first: ExecutingHead,
  { data: { content, ...data } }: Report<"PLAN">,
  ports: RunPorts,
): Promise<ReportArtifactResponse> {
  const { run_id, execution_id } = first;
  const now = ports.now();
  const digest = sha256(content);
  const bytes = Buffer.byteLength(content);
  const document_uid = data.document_uid ?? deriveUuid(run_id, "document", data.title ?? "", digest);
  const uid = deriveUuid(run_id, "PLAN", document_uid);
  const file = fileKeys.plan(run_id, execution_id, digest);
  const result = { artifact_uid: uid };
  let isStored = false;
  return changeExecution(first, ports, async (head) => {
    const before = toPlan(await readArtifact(run_id, uid, ports.table));
    if (before !== undefined && isSameVersion(before, data, digest)) return { result };
    const artifact: StoredPlan = {
      uid,
      run_id,
      execution_id,
      committed_at: before?.committed_at ?? now,
      artifact_type: "PLAN",
      ...data,
      document_uid,
      file,
      digest,
    };
    const change = toChange(head, artifact, bytes, now);
    if (!isStored) await ports.files.put(file, content, "text/markdown; charset=utf-8");
    isStored = true;
    return { change: before === undefined ? change : toVersionChange(head, change), result };
  });
}

const toPlan = (artifact: StoredArtifact | undefined): StoredPlan | undefined =>
  artifact?.artifact_type === "PLAN" ? artifact : undefined;

function isSameVersion(before: StoredPlan, data: Omit<Report<"PLAN">["data"], "content">, digest: string): boolean {
  const { notebook_uid, title, url } = data;
  return (
    before.digest === digest && before.title === title && before.url === url && before.notebook_uid === notebook_uid
  );
}

/**
 * The change that stores the artifact, if the run has space for it. The condition of the head detects concurrent writes, so the
 * artifact needs none.
 */
function toChange(head: ExecutingHead, artifact: StoredArtifact, bytes: number, now: number): AttributeChange {
  assertSpace(head, bytes);
  return {
    ...toCreatedChange(head, artifact, bytes, now),
    add: placedSpace(bytes),
    if: hasSpace(bytes),
    also: { artifact: putArtifact(artifact) },
  };
}

/** A new version uses space like a new artifact, so that plans have a limit, but is not counted as one. */
const toVersionChange = (head: ExecutingHead, change: AttributeChange): AttributeChange => ({
  ...change,
  set: { ...change.set, artifacts: head.artifacts },
});

function assertSpace({ placed_artifacts, placed_bytes }: ExecutingHead, bytes: number): void {
  if (placed_artifacts >= RUN_CAPS.artifacts || placed_bytes + bytes > RUN_CAPS.artifactBytes)
    throw artifactLimitError();
}
