import * as v from "valibot";
import { Metadata } from "./metadata.ts";
import { Count } from "./primitives.ts";

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

/** An artifact inside a run. */
export const ArtifactItem = v.variant("artifact_type", [
  v.object({ artifact_type: v.literal("PLAN"), created_at: v.string(), data: PlanData }),
  v.object({ artifact_type: v.literal("PULL_REQUEST"), created_at: v.string(), data: PullRequestData }),
  v.object({ artifact_type: v.literal("SCREENSHOT"), created_at: v.string(), data: ScreenshotData }),
  v.object({ artifact_type: v.literal("FILE"), created_at: v.string(), data: FileData }),
  v.object({ artifact_type: v.literal("EXTERNAL_REFERENCE"), created_at: v.string(), data: ReferenceData }),
]);
export type ArtifactItem = v.InferOutput<typeof ArtifactItem>;

/** What every artifact with a file says of it: a time-limited URL. */
const download = { download_url: v.string(), expires_at: v.string(), content_type: v.string() };

/** An artifact by itself: a plan with its text, others with a time-limited URL. Those without a body have no such answer. */
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
