import * as v from "valibot";
import type { Item } from "#shared/table/table.ts";
import type { ArtifactItem } from "#shared/wire/artifact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/** A FILE artifact; it is seen by nobody until it is committed. */
const Artifact = v.object({
  uid: v.string(),
  run_id: v.string(),
  execution_id: v.string(),
  artifact_type: v.literal("FILE"),
  filepath: v.string(),
  filename: v.string(),
  mime_type: v.string(),
  size_bytes: v.number(),
  sha256: v.string(),
  description: v.exactOptional(v.string()),
  title: v.exactOptional(v.string()),
  file: v.string(),
  committed_at: v.exactOptional(v.number()),
});
export type Artifact = v.InferOutput<typeof Artifact>;

export const parseArtifact = (item: Item): Artifact => v.parse(Artifact, item);

export function toArtifactItem(artifact: Artifact): ArtifactItem {
  return {
    artifact_type: "FILE",
    created_at: toTimestamp(artifact.committed_at ?? 0),
    data: {
      artifact_uid: artifact.uid,
      filepath: artifact.filepath,
      filename: artifact.filename,
      mime_type: artifact.mime_type,
      size_bytes: artifact.size_bytes,
      ...(artifact.description === undefined ? {} : { description: artifact.description }),
      ...(artifact.title === undefined ? {} : { title: artifact.title }),
    },
  };
}
