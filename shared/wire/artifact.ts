import * as v from "valibot";
import { Metadata } from "./metadata.ts";
import { Count } from "./primitives.ts";

/** The type of an artifact. `SCREENSHOT` and `FILE` have a file, `PLAN` has a text, the others have a URL only. */
export const ArtifactType = v.picklist(["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"]);
export type ArtifactType = v.InferOutput<typeof ArtifactType>;

const PlanData = v.object({
  document_uid: v.string(),
  notebook_uid: v.exactOptional(v.string()),
  artifact_uid: v.exactOptional(v.string()),
  title: v.exactOptional(v.string()),
  url: v.exactOptional(v.string()),
});

const PullRequestData = v.object({ url: v.string(), branch: v.string() });

const ScreenshotData = v.object({
  artifact_uid: v.string(),
  mime_type: v.string(),
  description: v.exactOptional(v.string()),
});

const FileData = v.object({
  artifact_uid: v.string(),
  filepath: v.string(),
  filename: v.string(),
  mime_type: v.string(),
  description: v.exactOptional(v.string()),
  size_bytes: v.exactOptional(Count),
  title: v.exactOptional(v.string()),
});

const ReferenceData = v.object({
  reference_type: v.string(),
  url: v.string(),
  title: v.exactOptional(v.string()),
  metadata: v.exactOptional(Metadata),
});

/** An artifact as part of a run: metadata only. */
export const ArtifactItem = v.variant("artifact_type", [
  v.object({ artifact_type: v.literal("PLAN"), created_at: v.string(), data: PlanData }),
  v.object({ artifact_type: v.literal("PULL_REQUEST"), created_at: v.string(), data: PullRequestData }),
  v.object({ artifact_type: v.literal("SCREENSHOT"), created_at: v.string(), data: ScreenshotData }),
  v.object({ artifact_type: v.literal("FILE"), created_at: v.string(), data: FileData }),
  v.object({ artifact_type: v.literal("EXTERNAL_REFERENCE"), created_at: v.string(), data: ReferenceData }),
]);
export type ArtifactItem = v.InferOutput<typeof ArtifactItem>;

/** The members that every artifact with a file has. */
const download = { download_url: v.string(), expires_at: v.string(), content_type: v.string() };

/** A single artifact: a plan with its text, or a file with a time-limited download URL. */
export const ArtifactResponse = v.variant("artifact_type", [
  v.object({
    artifact_uid: v.string(),
    artifact_type: v.literal("PLAN"),
    created_at: v.string(),
    data: v.object({
      document_uid: v.string(),
      notebook_uid: v.string(),
      title: v.exactOptional(v.string()),
      url: v.exactOptional(v.string()),
      content: v.string(),
      content_type: v.literal("text/markdown"),
    }),
  }),
  v.object({
    artifact_uid: v.string(),
    artifact_type: v.literal("SCREENSHOT"),
    created_at: v.string(),
    data: v.object({ ...download, description: v.exactOptional(v.string()) }),
  }),
  v.object({
    artifact_uid: v.string(),
    artifact_type: v.literal("FILE"),
    created_at: v.string(),
    data: v.object({
      ...download,
      filepath: v.string(),
      filename: v.string(),
      title: v.exactOptional(v.string()),
      description: v.exactOptional(v.string()),
      size_bytes: v.exactOptional(Count),
    }),
  }),
]);
export type ArtifactResponse = v.InferOutput<typeof ArtifactResponse>;
