import * as v from "valibot";
import { Count } from "./primitives.ts";

export const ArtifactType = v.picklist(["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"]);

const FileData = v.object({
  artifact_uid: v.string(),
  filepath: v.string(),
  filename: v.string(),
  mime_type: v.string(),
  description: v.exactOptional(v.string()),
  size_bytes: v.exactOptional(Count),
  title: v.exactOptional(v.string()),
});

/** An artifact inside a run. */
export const ArtifactItem = v.variant("artifact_type", [
  v.object({ artifact_type: v.literal("FILE"), created_at: v.string(), data: FileData }),
]);
export type ArtifactItem = v.InferOutput<typeof ArtifactItem>;

/** An artifact by itself: file-like ones carry a time-limited URL. */
export const ArtifactResponse = v.variant("artifact_type", [
  v.object({
    artifact_uid: v.string(),
    artifact_type: v.literal("FILE"),
    created_at: v.string(),
    data: v.object({
      download_url: v.string(),
      expires_at: v.string(),
      content_type: v.string(),
      filepath: v.string(),
      filename: v.string(),
      title: v.exactOptional(v.string()),
      description: v.exactOptional(v.string()),
      size_bytes: v.exactOptional(Count),
    }),
  }),
]);
export type ArtifactResponse = v.InferOutput<typeof ArtifactResponse>;
