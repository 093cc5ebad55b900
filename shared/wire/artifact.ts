import * as v from "valibot";
import { Metadata } from "./metadata.ts";
import { Count, text } from "./primitives.ts";

/** The type of an artifact. `SCREENSHOT` and `FILE` have a file, `PLAN` has a text, the others have a URL only. */
export const ArtifactType = v.picklist(["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"]);
export type ArtifactType = v.InferOutput<typeof ArtifactType>;

const PlanData = v.object({
  /** The document's id within the run. */
  document_uid: v.string(),
  /** The id of the notebook that contains the document. */
  notebook_uid: v.exactOptional(v.string()),
  /** The artifact's id. */
  artifact_uid: v.exactOptional(v.string()),
  /** The artifact's title. */
  title: v.exactOptional(v.string()),
  /** The URL of the document, pull request or external resource. */
  url: v.exactOptional(v.string()),
});

/** The status of a pull request when it was last reported; `unknown` if the report did not name it. */
export const PullRequestStatus = v.picklist(["open", "draft", "merged", "closed", "unknown"]);

const PullRequestData = v.object({
  url: v.string(),
  /** The branch of the pull request. */
  branch: v.string(),
  /** The status of the pull request when it was last reported; `unknown` if the report did not name it. */
  status: PullRequestStatus,
});

const ScreenshotData = v.object({
  artifact_uid: v.string(),
  /** The file's media type. */
  mime_type: v.string(),
  /** A description of the artifact, at most 1,024 characters. */
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
  /** The commit at the end; absent if the repository has none. */
  head_commit: v.exactOptional(GitCommit),
  /** The branch at the end; absent for a detached head. */
  branch: v.exactOptional(text(256, 1)),
  /** The number of commits since `base_commit`. */
  commits: Count,
  /** The number of changed files. */
  files_changed: Count,
  /** The number of inserted lines. */
  insertions: Count,
  /** The number of deleted lines. */
  deletions: Count,
  /** The number of new and changed files that the patch leaves out because they are larger than 5 MiB. */
  files_omitted: v.exactOptional(Count),
  /** True if `***` replaces secrets of the run in the patch. */
  redacted: v.exactOptional(v.boolean()),
});
export type GitChanges = v.InferOutput<typeof GitChanges>;

const FileData = v.object({
  artifact_uid: v.string(),
  /** The file's path in the workspace. */
  filepath: v.string(),
  /** The file's name. */
  filename: v.string(),
  mime_type: v.string(),
  description: v.exactOptional(v.string()),
  /** The file's size in bytes. */
  size_bytes: v.exactOptional(Count),
  title: v.exactOptional(v.string()),
  /** What the patch in this file changes. Only in files of repository changes. */
  git: v.exactOptional(GitChanges),
});

const ReferenceData = v.object({
  /** The type of the external resource, such as `issue`. */
  reference_type: v.string(),
  url: v.string(),
  title: v.exactOptional(v.string()),
  /** Labels of the reference: at most 20 keys, with values of at most 256 bytes. */
  metadata: v.exactOptional(Metadata),
});

/** An artifact as part of a run: metadata only. */
export const ArtifactItem = v.variant("artifact_type", [
  v.object({
    /** The type of the artifact. */
    artifact_type: v.literal("PLAN"),
    /** The time of creation. @format date-time */
    created_at: v.string(),
    /** The artifact's metadata. Its shape depends on `artifact_type`. */
    data: PlanData,
  }),
  v.object({ artifact_type: v.literal("PULL_REQUEST"), created_at: v.string(), data: PullRequestData }),
  v.object({ artifact_type: v.literal("SCREENSHOT"), created_at: v.string(), data: ScreenshotData }),
  v.object({ artifact_type: v.literal("FILE"), created_at: v.string(), data: FileData }),
  v.object({ artifact_type: v.literal("EXTERNAL_REFERENCE"), created_at: v.string(), data: ReferenceData }),
]);
export type ArtifactItem = v.InferOutput<typeof ArtifactItem>;

/** A time-limited URL of a file, which needs no credentials. */
export const DownloadUrl = v.object({
  /** A time-limited URL of the file. Do not send credentials to it. @format uri */
  download_url: v.string(),
  /** The expiry time of the URL. @format date-time */
  expires_at: v.string(),
});
export type DownloadUrl = v.InferOutput<typeof DownloadUrl>;

/** The members that every artifact with a file has. */
const download = { ...DownloadUrl.entries, content_type: v.string() };

/** A single artifact: a plan with its text, or a file with a time-limited download URL. */
export const ArtifactResponse = v.variant("artifact_type", [
  v.object({
    /** The artifact's id. */
    artifact_uid: v.string(),
    /** The type of the artifact. */
    artifact_type: v.literal("PLAN"),
    /** The time of creation. @format date-time */
    created_at: v.string(),
    /** The artifact's content or download URL. Its shape depends on `artifact_type`. */
    data: v.object({
      /** The document's id within the run. */
      document_uid: v.string(),
      /** The id of the notebook that contains the document. */
      notebook_uid: v.string(),
      /** The artifact's title. */
      title: v.exactOptional(v.string()),
      /** The URL of the document in an external system. */
      url: v.exactOptional(v.string()),
      /** The current text of the document, in Markdown. */
      content: v.string(),
      /** The media type of the content or the file. */
      content_type: v.literal("text/markdown"),
    }),
  }),
  v.object({
    artifact_uid: v.string(),
    artifact_type: v.literal("SCREENSHOT"),
    created_at: v.string(),
    data: v.object({
      ...download,
      /** A description of the artifact, at most 1,024 characters. */
      description: v.exactOptional(v.string()),
    }),
  }),
  v.object({
    artifact_uid: v.string(),
    artifact_type: v.literal("FILE"),
    created_at: v.string(),
    data: v.object({
      ...download,
      /** The file's path in the workspace. */
      filepath: v.string(),
      /** The file's name. */
      filename: v.string(),
      title: v.exactOptional(v.string()),
      description: v.exactOptional(v.string()),
      /** The file's size in bytes. */
      size_bytes: v.exactOptional(Count),
      /** What the patch in this file changes. Only in files of repository changes. */
      git: v.exactOptional(GitChanges),
    }),
  }),
]);
export type ArtifactResponse = v.InferOutput<typeof ArtifactResponse>;
