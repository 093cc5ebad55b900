import * as v from "valibot";
import { Count, textOfBytes } from "../primitives.ts";

const Digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must have 64 lowercase hexadecimal digits"));

/** A file of a snapshot, for the harness. */
export const SavedFile = v.object({
  /** The file's name. */
  filename: v.string(),
  /** A time-limited URL of the file. Do not send credentials to it. @format uri */
  download_url: v.string(),
  /** The file's media type. */
  mime_type: v.string(),
  /** The file's size in bytes. */
  size_bytes: Count,
});

/** A clone in a setup snapshot. */
export const SnapshotClone = v.object({
  /** Its directory in the workspace. */
  path: textOfBytes(1024, 1),
  /** The commit that is checked out; empty for a repository without commits. */
  commit: v.pipe(v.string(), v.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})?$/, "must be the id of a commit, or empty")),
});
export type SnapshotClone = v.InferOutput<typeof SnapshotClone>;

/** What a setup snapshot was made of. */
export const SetupReport = v.object({
  /** The digest of its inputs that `resolve-prompt` returned. */
  inputs: Digest,
  /** A digest of the machine as commands see it. */
  platform: Digest,
  /** The clones, at most 10. */
  clones: v.pipe(v.array(SnapshotClone), v.maxLength(10)),
});
export type SetupReport = v.InferOutput<typeof SetupReport>;

/** The setup snapshot of the run's environment, for the harness. */
export const RunSetup = v.object({
  /** A digest of everything that the setup depends on, except the commits of repositories and the machine. */
  inputs: v.string(),
  /** True if the run only sets up the environment: the harness saves a setup snapshot. */
  keep: v.exactOptional(v.literal(true)),
  /** The latest snapshot. Absent if there is none. */
  made: v.exactOptional(
    v.object({
      /** The run that made it. */
      run_id: v.string(),
      /** The time of creation. @format date-time */
      created_at: v.string(),
      /** The machine on which it was made, as a digest. */
      platform: v.string(),
      /** The clones. */
      clones: v.array(SnapshotClone),
      /** The files. Absent if the inputs of the snapshot differ from `inputs`. */
      files: v.exactOptional(v.array(SavedFile)),
    }),
  ),
});
export type RunSetup = v.InferOutput<typeof RunSetup>;
