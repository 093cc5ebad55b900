import { notFound } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { parseArtifact, type StoredPlan, type UploadedArtifact } from "#shared/records/artifact.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { notVisibleError, visibleRun } from "#shared/runs/read-run.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item } from "#shared/table/table.ts";
import type { ArtifactResponse } from "#shared/wire/artifact.ts";
import type { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/harness.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { reportUpload } from "./uploaded-artifacts.ts";
import { reportLink, reportPlan } from "./written-artifacts.ts";

/** report-artifact: what the execution uploads is reported twice, all else once. */
export function reportArtifact(
  head: ExecutingHead,
  report: ReportArtifactRequest,
  ports: RunPorts,
): Promise<ReportArtifactResponse> {
  switch (report.artifact_type) {
    case "FILE":
    case "SCREENSHOT":
      return reportUpload(head, report, ports);
    case "PLAN":
      return reportPlan(head, report, ports);
    case "PULL_REQUEST":
    case "EXTERNAL_REFERENCE":
      return reportLink(head, report, ports);
  }
}

/** An artifact by its uid, with its text or a time-limited URL. One that only names what lies elsewhere has no body: 404. */
export async function readArtifact(uid: string, principal: Principal, ports: RunPorts): Promise<ArtifactResponse> {
  const pointer = await ports.table.get(keys.artifactRun(uid));
  const runId = runOf(pointer);
  if (runId === undefined) throw notVisibleError(principal, "artifact");
  await visibleRun(runId, principal, ports, "artifact");
  const item = await ports.table.get(keys.artifact(runId, uid));
  const artifact = item === undefined ? undefined : parseArtifact(item);
  if (artifact?.committed_at === undefined) throw notFound("artifact");
  const made = { artifact_uid: uid, created_at: toTimestamp(artifact.committed_at) };
  switch (artifact.artifact_type) {
    case "PLAN":
      return { ...made, artifact_type: artifact.artifact_type, data: await planData(artifact, ports) };
    case "SCREENSHOT": {
      const { description } = artifact;
      const data = { ...(await downloadOf(artifact, ports)), ...(description === undefined ? {} : { description }) };
      return { ...made, artifact_type: artifact.artifact_type, data };
    }
    case "FILE": {
      const { filepath, filename, title, description, size_bytes } = artifact;
      const told = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
      const data = { ...(await downloadOf(artifact, ports)), filepath, filename, ...told, size_bytes };
      return { ...made, artifact_type: artifact.artifact_type, data };
    }
    case "PULL_REQUEST":
    case "EXTERNAL_REFERENCE":
      throw notFound("artifact");
  }
}

async function planData({ document_uid, notebook_uid, title, url, file }: StoredPlan, { files }: RunPorts) {
  const content = await files.get(file);
  if (content === undefined) throw new Error("the content of a plan is missing");
  return {
    document_uid,
    notebook_uid: notebook_uid ?? document_uid,
    ...(title === undefined ? {} : { title }),
    ...(url === undefined ? {} : { url }),
    content: Buffer.from(content).toString(),
    content_type: "text/markdown" as const,
  };
}

async function downloadOf(artifact: UploadedArtifact, { files }: RunPorts) {
  const { file, mime_type } = artifact;
  const { url, expiresAt } = await files.downloadUrl(file, { filename: nameOf(artifact), contentType: mime_type });
  return { download_url: url, expires_at: toTimestamp(expiresAt), content_type: mime_type };
}

/** A screenshot is called after its kind; its media type tells the ending, but for what stands behind a plus. */
function nameOf(artifact: UploadedArtifact): string {
  if (artifact.artifact_type === "FILE") return artifact.filename;
  const [ending = "img"] = artifact.mime_type.slice("image/".length).split("+");
  return `screenshot.${ending}`;
}

const runOf = (pointer: Item | undefined): string | undefined =>
  typeof pointer?.["run_id"] === "string" ? pointer["run_id"] : undefined;
