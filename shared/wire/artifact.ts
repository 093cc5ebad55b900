import * as v from "valibot";
import { Metadata } from "./metadata.ts";
import { Count, text } from "./primitives.ts";

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

/** The status of a pull request when it was last reported; `unknown` where the report did not tell. */
export const PullRequestStatus = v.picklist(["open", "draft", "merged", "closed", "unknown"]);

const PullRequestData = v.object({ url: v.string(), branch: v.string(), status: PullRequestStatus });

const ScreenshotData = v.object({
  artifact_uid: v.string(),
  mime_type: v.string(),
  description: v.exactOptional(v.string()),
});

/** The id of a commit, in hexadecimal digits. */
export const GitCommit = v.pipe(v.string(), v.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, "must be the id of a commit"));

/** What a run changed in a repository: its commits, uncommitted changes and new files, without ignored files. */
export const GitChanges = v.object({
  /** The path of the repository in the workspace. */
  path: text(1024, 1),
  /** The commit that was cloned, to which the patch applies. */
  base_commit: GitCommit,
  head_commit: v.exactOptional(GitCommit),
  /** The branch at the end; absent for a detached head. */
  branch: v.exactOptional(text(256, 1)),
  /** The commits since `base_commit`. */
  commits: Count,
  files_changed: Count,
  insertions: Count,
  deletions: Count,
  /** New and changed files that the patch leaves out because they are larger than 5 MiB. */
  files_omitted: v.exactOptional(Count),
  /** True if `***` replaces secrets of the run in the patch. */
  redacted: v.exactOptional(v.boolean()),
});
export type GitChanges = v.InferOutput<typeof GitChanges>;

const FileData = v.object({
  artifact_uid: v.string(),
  filepath: v.string(),
  filename: v.string(),
  mime_type: v.string(),
  description: v.exactOptional(v.string()),
  size_bytes: v.exactOptional(Count),
  title: v.exactOptional(v.string()),
  git: v.exactOptional(GitChanges),
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

/** A time-limited URL of a file, which needs no credentials. */
export const DownloadUrl = v.object({ download_url: v.string(), expires_at: v.string() });
export type DownloadUrl = v.InferOutput<typeof DownloadUrl>;

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
      git: v.exactOptional(GitChanges),
    }),
  }),
]);
export type ArtifactResponse = v.InferOutput<typeof ArtifactResponse>;
