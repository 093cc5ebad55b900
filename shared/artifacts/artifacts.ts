import { notFound } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { isUploaded, type StoredArtifact, type StoredPlan, type UploadedArtifact } from "#shared/records/artifact.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { notVisibleError, visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { ArtifactResponse, DownloadUrl } from "#shared/wire/artifact.ts";
import type { ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/executions/report-artifact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { findArtifactRun, readArtifact } from "./artifact-store.ts";
import { reportUpload } from "./uploaded-artifacts.ts";
import { reportLink, reportPlan } from "./written-artifacts.ts";

/** Stores a reported artifact. Files and screenshots are reported twice, before and after their upload; others once. */
export function storeArtifactReport(
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

async function findVisibleArtifact(uid: string, principal: Principal, ports: RunPorts) {
  const runId = await findArtifactRun(uid, ports.table);
  if (runId === undefined) throw notVisibleError(principal, "artifact");
  await visibleRun(runId, principal, ports, "artifact");
  return readCommitted(runId, uid, ports);
}

async function readCommitted(runId: string, uid: string, { table }: RunPorts) {
  const artifact = await readArtifact(runId, uid, table);
  if (artifact?.committed_at === undefined) throw notFound("artifact");
  return { artifact, committedAt: artifact.committed_at };
}

/** Creates a URL of an artifact's content, or of a plan's text. An artifact that only refers to a URL has no content: 404. */
export async function createArtifactDownload(uid: string, principal: Principal, ports: RunPorts): Promise<DownloadUrl> {
  return createContentUrl((await findVisibleArtifact(uid, principal, ports)).artifact, ports);
}

/** As `createArtifactDownload`, for an artifact of a run that the caller may see. */
export async function createRunArtifactDownload(runId: string, uid: string, ports: RunPorts): Promise<DownloadUrl> {
  return createContentUrl((await readCommitted(runId, uid, ports)).artifact, ports);
}

async function createContentUrl(artifact: StoredArtifact, ports: RunPorts): Promise<DownloadUrl> {
  if (isUploaded(artifact)) return createDownload(artifact, ports);
  if (artifact.artifact_type !== "PLAN") throw notFound("content of this artifact");
  const file = { filename: "plan.md", contentType: "text/markdown; charset=utf-8" };
  const { url, expiresAt } = await ports.files.downloadUrl(artifact.file, file);
  return { download_url: url, expires_at: toTimestamp(expiresAt) };
}

/** Returns an artifact by its uid, with its text or a download URL. An artifact that only refers to a URL has no content: 404. */
export async function showArtifact(uid: string, principal: Principal, ports: RunPorts): Promise<ArtifactResponse> {
  const { artifact, committedAt } = await findVisibleArtifact(uid, principal, ports);
  const common = { artifact_uid: uid, created_at: toTimestamp(committedAt) };
  switch (artifact.artifact_type) {
    case "PLAN":
      return { ...common, artifact_type: artifact.artifact_type, data: await toPlanData(artifact, ports) };
    case "SCREENSHOT": {
      const { description } = artifact;
      const data = {
        ...(await createDownload(artifact, ports)),
        ...(description === undefined ? {} : { description }),
      };
      return { ...common, artifact_type: artifact.artifact_type, data };
    }
    case "FILE": {
      const { filepath, filename, title, description, size_bytes, git } = artifact;
      const texts = {
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
      };
      const data = {
        ...(await createDownload(artifact, ports)),
        filepath,
        filename,
        ...texts,
        size_bytes,
        ...(git === undefined ? {} : { git }),
      };
      return { ...common, artifact_type: artifact.artifact_type, data };
    }
    case "PULL_REQUEST":
    case "EXTERNAL_REFERENCE":
      throw notFound("artifact");
  }
}

async function toPlanData({ document_uid, notebook_uid, title, url, file }: StoredPlan, { files }: RunPorts) {
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

async function createDownload(artifact: UploadedArtifact, { files }: RunPorts) {
  const { file, mime_type } = artifact;
  const { url, expiresAt } = await files.downloadUrl(file, { filename: toFilename(artifact), contentType: mime_type });
  return { download_url: url, expires_at: toTimestamp(expiresAt), content_type: mime_type };
}

/** Names a downloaded file. The extension of a screenshot is the subtype of its media type, without a suffix after a plus. */
function toFilename(artifact: UploadedArtifact): string {
  if (artifact.artifact_type === "FILE") return artifact.filename;
  const [extension = "img"] = artifact.mime_type.slice("image/".length).split("+");
  return `screenshot.${extension}`;
}
