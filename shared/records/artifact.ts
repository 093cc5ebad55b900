import * as v from "valibot";
import type { Item } from "#shared/table/table.ts";
import { type ArtifactItem, GitChanges, PullRequestStatus } from "#shared/wire/artifact.ts";
import { Metadata } from "#shared/wire/metadata.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

const Text = v.string();
const MaybeText = v.exactOptional(v.string());

/** An artifact is visible once it is committed. */
const common = { uid: Text, run_id: Text, execution_id: Text, committed_at: v.exactOptional(v.number()) };
/** A file that the execution uploads itself, to a signed URL. */
const uploaded = { mime_type: Text, size_bytes: v.number(), sha256: Text, file: Text, description: MaybeText };

const StoredArtifact = v.variant("artifact_type", [
  v.object({
    ...common,
    artifact_type: v.literal("PLAN"),
    document_uid: Text,
    notebook_uid: MaybeText,
    title: MaybeText,
    url: MaybeText,
    /** The file of the current content, which is named by its digest. */
    file: Text,
    digest: Text,
  }),
  v.object({
    ...common,
    artifact_type: v.literal("PULL_REQUEST"),
    url: Text,
    branch: Text,
    status: v.exactOptional(PullRequestStatus),
    /** When the code host has changed it to that, as its event says; absent for what the run has reported. */
    status_as_of: MaybeText,
  }),
  v.object({ ...common, artifact_type: v.literal("SCREENSHOT"), ...uploaded }),
  v.object({
    ...common,
    artifact_type: v.literal("FILE"),
    ...uploaded,
    filepath: Text,
    filename: Text,
    title: MaybeText,
    git: v.exactOptional(GitChanges),
  }),
  v.object({
    ...common,
    artifact_type: v.literal("EXTERNAL_REFERENCE"),
    reference_type: Text,
    url: Text,
    title: MaybeText,
    metadata: v.exactOptional(Metadata),
  }),
]);
export type StoredArtifact = v.InferOutput<typeof StoredArtifact>;
export type StoredPlan = Extract<StoredArtifact, { artifact_type: "PLAN" }>;
export type StoredLink = Extract<StoredArtifact, { artifact_type: "PULL_REQUEST" | "EXTERNAL_REFERENCE" }>;
export type UploadedArtifact = Extract<StoredArtifact, { sha256: string }>;

export const parseArtifact = (item: Item): StoredArtifact => v.parse(StoredArtifact, item);

export const isUploaded = (artifact: StoredArtifact): artifact is UploadedArtifact => "sha256" in artifact;

export function toArtifactItem(artifact: StoredArtifact): ArtifactItem {
  const created_at = toTimestamp(artifact.committed_at ?? 0);
  const { uid: artifact_uid, run_id: _, execution_id: __, committed_at: ___, ...rest } = artifact;
  switch (rest.artifact_type) {
    case "PLAN": {
      const { artifact_type, file: _file, digest: _digest, ...data } = rest;
      return { artifact_type, created_at, data: { ...data, artifact_uid } };
    }
    case "PULL_REQUEST": {
      const { artifact_type, status_as_of: _asOf, ...data } = rest;
      return { artifact_type, created_at, data: { ...data, status: data.status ?? "unknown" } };
    }
    case "SCREENSHOT": {
      const { artifact_type, mime_type, description } = rest;
      const data = { artifact_uid, mime_type, ...(description === undefined ? {} : { description }) };
      return { artifact_type, created_at, data };
    }
    case "FILE": {
      const { artifact_type, file: _file, sha256: _sha256, ...data } = rest;
      return { artifact_type, created_at, data: { ...data, artifact_uid } };
    }
    case "EXTERNAL_REFERENCE": {
      const { artifact_type, ...data } = rest;
      return { artifact_type, created_at, data };
    }
  }
}

/** The data of the run's event about the artifact. */
export function artifactFacts(artifact: StoredArtifact): Record<string, string | number> {
  const named = { artifact_uid: artifact.uid, artifact_type: artifact.artifact_type };
  switch (artifact.artifact_type) {
    case "PLAN":
      return { ...named, document_uid: artifact.document_uid, ...pickTitle(artifact) };
    case "PULL_REQUEST":
      return { ...named, url: artifact.url, branch: artifact.branch };
    case "SCREENSHOT":
      return { ...named, mime_type: artifact.mime_type, size_bytes: artifact.size_bytes };
    case "FILE":
      return { ...named, filepath: artifact.filepath, size_bytes: artifact.size_bytes, ...pickTitle(artifact) };
    case "EXTERNAL_REFERENCE":
      return { ...named, reference_type: artifact.reference_type, url: artifact.url, ...pickTitle(artifact) };
  }
}

const pickTitle = ({ title }: { readonly title?: string }) => (title === undefined ? {} : { title });
