import { fileKeys } from "#shared/files/file-store.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { sha256, uuidOf } from "#shared/ids.ts";
import { parseArtifact, type StoredArtifact, type StoredPlan } from "#shared/records/artifact.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import type { Change } from "#shared/runs/transition.ts";
import { keys } from "#shared/table/keys.ts";
import type { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/harness.ts";
import { artifactFull, artifactPuts, createdChange, hasRoom, roomFor } from "./artifact-changes.ts";

type Report<T extends ReportArtifactRequest["artifact_type"]> = Extract<ReportArtifactRequest, { artifact_type: T }>;

/** A report of something that lies elsewhere: all there is of it is in the report. The same one twice is one artifact. */
export async function reportLink(
  first: ExecutingHead,
  report: Report<"PULL_REQUEST" | "EXTERNAL_REFERENCE">,
  ports: RunPorts,
): Promise<ReportArtifactResponse> {
  const { run_id, execution_id } = first;
  const uid = uuidOf(run_id, report.artifact_type, canonicalJson(report.data));
  const now = ports.now();
  const place = { uid, run_id, execution_id, committed_at: now };
  const artifact: StoredArtifact =
    report.artifact_type === "PULL_REQUEST"
      ? { ...place, artifact_type: report.artifact_type, ...report.data }
      : { ...place, artifact_type: report.artifact_type, ...report.data };
  return changeExecution(first, ports, async (head) => {
    const isThere = (await ports.table.get(keys.artifact(run_id, uid))) !== undefined;
    if (isThere) return { result: { artifact_uid: uid } };
    return { change: written(head, artifact, 0, now), result: { artifact_uid: uid } };
  });
}

/**
 * A report of a plan. Under the same document_uid it is the same artifact, whose content the report replaces; what is reported as
 * it was already changes nothing. Each version is a file, so that a run is read without the texts of its plans.
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
  const document_uid = data.document_uid ?? uuidOf(run_id, "document", data.title ?? "", digest);
  const uid = uuidOf(run_id, "PLAN", document_uid);
  const file = fileKeys.plan(run_id, execution_id, digest);
  const result = { artifact_uid: uid };
  let isStored = false;
  return changeExecution(first, ports, async (head) => {
    const item = await ports.table.get(keys.artifact(run_id, uid));
    const before = item === undefined ? undefined : planOf(parseArtifact(item));
    if (before !== undefined && saysTheSame(before, data, digest)) return { result };
    refuseFull(head, bytes);
    if (!isStored) await ports.files.put(file, content, "text/markdown; charset=utf-8");
    isStored = true;
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
    const change = written(head, artifact, bytes, now);
    return { change: before === undefined ? change : asVersion(head, change), result };
  });
}

const planOf = (artifact: StoredArtifact): StoredPlan | undefined =>
  artifact.artifact_type === "PLAN" ? artifact : undefined;

function saysTheSame(before: StoredPlan, data: Omit<Report<"PLAN">["data"], "content">, digest: string): boolean {
  const { notebook_uid, title, url } = data;
  return (
    before.digest === digest && before.title === title && before.url === url && before.notebook_uid === notebook_uid
  );
}

/** The head stands in the way of whatever else would write the artifact at the same time, so its own writes need no condition. */
function written(head: ExecutingHead, artifact: StoredArtifact, bytes: number, now: number): Change {
  refuseFull(head, bytes);
  return {
    ...createdChange(head, artifact, bytes, now),
    add: roomFor(bytes),
    if: hasRoom(bytes),
    also: artifactPuts(artifact),
  };
}

/** A new version takes room as a new artifact does, or plans could grow without end; it is no artifact more. */
const asVersion = (head: ExecutingHead, change: Change): Change => ({
  ...change,
  set: { ...change.set, artifacts: head.artifacts },
});

function refuseFull({ placed_artifacts, placed_bytes }: ExecutingHead, bytes: number): void {
  if (placed_artifacts >= RUN_CAPS.artifacts || placed_bytes + bytes > RUN_CAPS.artifactBytes) throw artifactFull();
}
