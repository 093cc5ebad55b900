import * as v from "valibot";
import { GitChanges, PullRequestStatus } from "../artifact.ts";
import { FileName, MediaType, Sha256, UploadTarget } from "../harness.ts";
import { Metadata } from "../metadata.ts";
import { Count, HttpsUrl, Id, text, textOfBytes } from "../primitives.ts";

const ImageType = v.pipe(textOfBytes(255, 1), v.regex(/^image\/[\w.+-]+$/, "must be an image type such as image/png"));

const PLAN_BYTES = 262_144;
/** The size and digest that the upload must match. */
const upload = {
  /** The file's size in bytes. */
  size_bytes: v.pipe(Count, v.maxValue(5_368_709_120)),
  /** The SHA-256 digest of the file. */
  sha256: Sha256,
};

/** The artifact to report. The members of `data` depend on `artifact_type`. */
export const ReportArtifactRequest = v.variant("artifact_type", [
  v.object({
    /** The type of the artifact. */
    artifact_type: v.literal("PLAN"),
    /** The artifact. Its shape depends on `artifact_type`. */
    data: v.object({
      /** Identifies the plan within its run: reporting it again replaces it. */
      document_uid: v.exactOptional(Id),
      /** The id of the notebook that contains the document. */
      notebook_uid: v.exactOptional(Id),
      /** The artifact's title. */
      title: v.exactOptional(text(512)),
      /** The https URL of the document, pull request or external resource, without credentials. */
      url: v.exactOptional(HttpsUrl),
      /** The full text of the document, in Markdown. */
      content: textOfBytes(PLAN_BYTES, 1),
    }),
  }),
  v.object({
    artifact_type: v.literal("PULL_REQUEST"),
    data: v.object({
      url: HttpsUrl,
      /** The branch of the pull request. */
      branch: textOfBytes(256, 1),
      /** The status of the pull request. Reporting it again with another status updates its artifact. */
      status: v.exactOptional(PullRequestStatus),
    }),
  }),
  v.object({
    artifact_type: v.literal("SCREENSHOT"),
    data: v.object({
      /** The file's media type. */
      mime_type: ImageType,
      ...upload,
      /** A description of the artifact, at most 1,024 characters. */
      description: v.exactOptional(text(1024)),
    }),
  }),
  v.object({
    artifact_type: v.literal("FILE"),
    data: v.object({
      /** The file's path in the workspace. */
      filepath: v.pipe(
        textOfBytes(1024, 1),
        v.regex(/^(?!\/)(?![\s\S]*(^|\/)\.\.?(\/|$))[\s\S]+$/, "must be a relative path without . or .. segments"),
      ),
      /** The file's name. */
      filename: FileName,
      mime_type: MediaType,
      ...upload,
      description: v.exactOptional(text(1024)),
      title: v.exactOptional(text(512)),
      /** Marks the file as the patch of a repository's changes. */
      git: v.exactOptional(GitChanges),
    }),
  }),
  v.object({
    artifact_type: v.literal("EXTERNAL_REFERENCE"),
    data: v.object({
      /** The type of the external resource, such as `issue`. */
      reference_type: text(64, 1),
      url: HttpsUrl,
      title: v.exactOptional(text(512)),
      /** Labels of the reference: at most 20 keys, with values of at most 256 bytes. */
      metadata: v.exactOptional(Metadata),
    }),
  }),
]);
export type ReportArtifactRequest = v.InferOutput<typeof ReportArtifactRequest>;
/** The reported artifact, with its upload target if the file is still to be uploaded. */
export const ReportArtifactResponse = v.object({
  /** The artifact's id. */
  artifact_uid: v.string(),
  /** Where to upload the file. Absent if the file is already uploaded. */
  upload: v.exactOptional(UploadTarget),
});
export type ReportArtifactResponse = v.InferOutput<typeof ReportArtifactResponse>;
