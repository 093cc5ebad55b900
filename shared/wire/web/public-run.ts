import * as v from "valibot";
import { ArtifactType } from "../artifact.ts";
import { Conversation } from "../conversation.ts";
import { RunState } from "../run.ts";

/** An artifact of a publicly shared run, without URLs. Its content is downloaded by its uid. */
export const PublicArtifact = v.object({
  /** The type of the artifact. */
  artifact_type: ArtifactType,
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The artifact's id, by which it is downloaded. Absent if it has none. */
  artifact_uid: v.exactOptional(v.string()),
  /** The artifact's title. */
  title: v.exactOptional(v.string()),
  /** A description of the artifact. */
  description: v.exactOptional(v.string()),
  /** The file's name. */
  filename: v.exactOptional(v.string()),
  /** The file's media type. */
  mime_type: v.exactOptional(v.string()),
  /** The file's size in bytes. */
  size_bytes: v.exactOptional(v.number()),
});
export type PublicArtifact = v.InferOutput<typeof PublicArtifact>;

/** A run that is shared publicly: no names of people, no configuration, no URLs. */
export const PublicRun = v.object({
  /** The run's title. */
  title: v.string(),
  /** The run's current state. */
  state: RunState,
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time that the run was executing, as an ISO 8601 duration. */
  run_time: v.exactOptional(v.string()),
  /** The messages of the run. Absent where a third-party harness stores them in its own format. */
  conversation: v.exactOptional(Conversation),
  /** The run's artifacts, oldest first. */
  artifacts: v.array(PublicArtifact),
});
export type PublicRun = v.InferOutput<typeof PublicRun>;

/** Who may see a run besides its owner. Null: nobody. */
export const ShareRunRequest = v.object({
  /** The access of anyone with the link. Null: nobody but the run's owner sees it. */
  public_access: v.nullable(v.picklist(["VIEWER"])),
});

/** The link of the public view. Absent where the run is not shared, or the deployment has no web app. */
export const ShareRunResponse = v.object({
  /** The URL of the run's public view. Absent if the run is not shared, or the deployment has no web app. */
  session_link: v.exactOptional(v.string()),
});
