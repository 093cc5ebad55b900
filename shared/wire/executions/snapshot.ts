import * as v from "valibot";
import { FileName, MediaType, Sha256, UploadTarget } from "../harness.ts";
import { Count, textOfBytes } from "../primitives.ts";
import { SetupReport } from "./setup-snapshot.ts";

const SnapshotUpload = v.object({
  /** The file's name, without directories. */
  filename: FileName,
  /** The file's media type. */
  mime_type: MediaType,
  /** The file's size in bytes. */
  size_bytes: v.exactOptional(v.pipe(Count, v.maxValue(2_147_483_648))),
  /** The SHA-256 digest of the file. */
  sha256: v.exactOptional(Sha256),
});

const Generation = v.pipe(
  v.string(),
  v.regex(
    /^(?!.*__)[A-Za-z0-9._-]{1,128}$/,
    "must have 1 to 128 of the characters A-Z a-z 0-9 . _ - and no two underscores in a row",
  ),
);

const HAS_FILES = 'must have at least 1 item unless mode is "checkpoint"';
/** The files of a snapshot. Only a checkpoint may have none: the workspace is empty. */
export const UploadSnapshotRequest = v.pipe(
  v.object({
    /** The files of the snapshot, at most 100. Only a `checkpoint`, of an empty workspace, can have none. */
    files: v.pipe(v.array(SnapshotUpload), v.maxLength(100)),
    /** `checkpoint` for files to commit as a checkpoint, `legacy` (default) for the final files of an execution. */
    mode: v.exactOptional(v.picklist(["legacy", "checkpoint"])),
    /** The name of the snapshot. Required for `checkpoint`. */
    generation: v.exactOptional(Generation),
  }),
  v.forward(
    v.check(({ files, mode }) => files.length > 0 || mode === "checkpoint", HAS_FILES),
    ["files"],
  ),
  v.metadata({ not: { properties: { files: { maxItems: 0 }, mode: { const: "legacy" } } } }),
);
export type UploadSnapshotRequest = v.InferOutput<typeof UploadSnapshotRequest>;
/** The upload targets of a snapshot. */
export const UploadSnapshotResponse = v.object({
  /** One upload target per file, in the order of the request. */
  uploads: v.array(UploadTarget),
});
export type UploadSnapshotResponse = v.InferOutput<typeof UploadSnapshotResponse>;

/** The snapshot to commit. */
export const CommitSnapshotRequest = v.object({
  /** The name of the snapshot within its execution. */
  generation: Generation,
  /** The names of the files to keep, at most 100. */
  files: v.pipe(v.array(textOfBytes(255, 1)), v.maxLength(100)),
  /** What the snapshot was made of, if later runs in the environment may start with it. Only for runs that set up an environment. */
  setup: v.exactOptional(SetupReport),
});
export type CommitSnapshotRequest = v.InferOutput<typeof CommitSnapshotRequest>;
/** The committed snapshot. */
export const CommitSnapshotResponse = v.object({
  /** The name of the snapshot within its execution. */
  generation: v.string(),
});
