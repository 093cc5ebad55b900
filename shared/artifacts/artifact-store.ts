import type * as v from "valibot";
import { parseArtifact, type StoredArtifact, type UploadedArtifact } from "#shared/records/artifact.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { keys, runPk } from "#shared/table/keys.ts";
import type { Conditions, Put, Table, Update } from "#shared/table/table.ts";
import { ConflictError, transact } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";
import type { PullRequestStatus } from "#shared/wire/artifact.ts";

/** Reads an artifact of a run; undefined if there is none. */
export async function readArtifact(
  runId: string,
  uid: string,
  table: Pick<Table, "get">,
): Promise<StoredArtifact | undefined> {
  const item = await table.get(keys.artifact(runId, uid));
  return item === undefined ? undefined : parseArtifact(item);
}

/** Finds the run of an artifact; undefined if there is no such artifact. */
export async function findArtifactRun(uid: string, table: Pick<Table, "get">): Promise<string | undefined> {
  const pointer = await table.get(keys.artifactRun(uid));
  return typeof pointer?.["run_id"] === "string" ? pointer["run_id"] : undefined;
}

/** Lists the artifacts of a run, including those that are not committed. */
export async function listArtifacts(runId: string, table: Pick<Table, "query">): Promise<StoredArtifact[]> {
  const { items } = await table.query({ pk: runPk(runId), prefix: "ARTIFACT#" });
  return items.map(parseArtifact);
}

/** Sets the status of the pull request at a URL, unless a later one is known. */
export async function setPullStatus(
  runId: string,
  url: string,
  { status, changedAt }: { readonly status: v.InferOutput<typeof PullRequestStatus>; readonly changedAt: string },
  table: Pick<Table, "query" | "write">,
): Promise<void> {
  for (const artifact of await listArtifacts(runId, table)) {
    if (artifact.artifact_type !== "PULL_REQUEST" || artifact.url !== url) continue;
    const later = { absentOr: { below: changedAt } };
    const set = { status, status_as_of: changedAt };
    await writeIf(table, {
      kind: "update",
      key: keys.artifact(runId, artifact.uid),
      set,
      if: { pk: { exists: true }, status_as_of: later },
    });
  }
}

/** The writes that store an artifact, and the pointer that finds it by its uid. */
export function putArtifact(artifact: StoredArtifact): [artifact: Put, pointer: Put] {
  const { run_id, uid } = artifact;
  return [
    { kind: "put", item: { ...keys.artifact(run_id, uid), v: 1, ...artifact } },
    { kind: "put", item: { ...keys.artifactRun(uid), v: 1, run_id } },
  ];
}

/**
 * Stores an artifact whose file is not uploaded yet. It counts toward the run's limits at once, so that uploads which are never
 * reported again count too.
 * @returns false if the artifact exists, the run has no space for it, or the execution has changed
 */
export async function placeUpload(head: ExecutingHead, artifact: UploadedArtifact, table: Table): Promise<boolean> {
  const [put, pointer] = putArtifact(artifact);
  const { size_bytes } = artifact;
  const count: Update = {
    kind: "update",
    key: keys.head(head.run_id),
    add: placedSpace(size_bytes),
    if: { execution_id: { eq: head.execution_id }, state: { eq: head.state }, ...hasSpace(size_bytes) },
  };
  try {
    await transact(table, { artifact: { ...put, if: { pk: { exists: false } } }, pointer, head: count });
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
}

/** The write that makes an artifact visible; its condition fails if it is visible already. */
export const commitArtifact = ({ run_id, uid }: UploadedArtifact, now: number): Update => ({
  kind: "update",
  key: keys.artifact(run_id, uid),
  set: { committed_at: now },
  if: { committed_at: { exists: false } },
});

/** What an artifact adds to the counters of its run's head. */
export const placedSpace = (bytes: number) => ({ placed_artifacts: 1, placed_bytes: bytes });

/** The condition that a run has space for another artifact. */
export const hasSpace = (bytes: number): Conditions => ({
  placed_artifacts: { absentOr: { below: RUN_CAPS.artifacts } },
  placed_bytes: { absentOr: { below: RUN_CAPS.artifactBytes - bytes + 1 } },
});
