import * as v from "valibot";
import { ArtifactType } from "../artifact.ts";
import { Conversation } from "../conversation.ts";
import { RunState } from "../run.ts";

/** An artifact of a publicly shared run, without URLs. Its content is downloaded by its uid. */
export const PublicArtifact = v.object({
  artifact_type: ArtifactType,
  created_at: v.string(),
  artifact_uid: v.exactOptional(v.string()),
  title: v.exactOptional(v.string()),
  description: v.exactOptional(v.string()),
  filename: v.exactOptional(v.string()),
  mime_type: v.exactOptional(v.string()),
  size_bytes: v.exactOptional(v.number()),
});
export type PublicArtifact = v.InferOutput<typeof PublicArtifact>;

/** A run that is shared publicly: no names of people, no configuration, no URLs. */
export const PublicRun = v.object({
  title: v.string(),
  state: RunState,
  created_at: v.string(),
  /** The time that the run was executing, as an ISO 8601 duration. */
  run_time: v.exactOptional(v.string()),
  /** The messages of the run. Absent where a third-party harness stores them in its own format. */
  conversation: v.exactOptional(Conversation),
  artifacts: v.array(PublicArtifact),
});
export type PublicRun = v.InferOutput<typeof PublicRun>;

/** Who may see a run besides its owner. Null: nobody. */
export const ShareRunRequest = v.object({ public_access: v.nullable(v.picklist(["VIEWER"])) });

/** The link of the public view. Absent where the run is not shared, or the deployment has no web app. */
export const ShareRunResponse = v.object({ session_link: v.exactOptional(v.string()) });
