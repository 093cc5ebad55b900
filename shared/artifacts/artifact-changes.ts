import { RunyardError } from "#shared/errors.ts";
import { artifactFacts, type StoredArtifact } from "#shared/records/artifact.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import type { Change } from "#shared/runs/transition.ts";
import { keys } from "#shared/table/keys.ts";
import type { Conditions, Put } from "#shared/table/table.ts";

/** What an artifact takes of the room that its run has. */
export const roomFor = (bytes: number) => ({ placed_artifacts: 1, placed_bytes: bytes });

/** That there is so much room. */
export const hasRoom = (bytes: number): Conditions => ({
  placed_artifacts: { absentOr: { below: RUN_CAPS.artifacts } },
  placed_bytes: { absentOr: { below: RUN_CAPS.artifactBytes - bytes + 1 } },
});

/** Waiting makes no room in a run, so nobody is told to try again. */
export const artifactFull = () =>
  new RunyardError("resource_unavailable", {
    status: 429,
    retryable: false,
    detail: `a run has ${RUN_CAPS.artifacts} artifacts of ${RUN_CAPS.artifactBytes} bytes together`,
  });

/** The artifact, and what finds it by its uid. */
export function artifactPuts(artifact: StoredArtifact): [artifact: Put, pointer: Put] {
  const { run_id, uid } = artifact;
  return [
    { kind: "put", item: { ...keys.artifact(run_id, uid), v: 1, ...artifact } },
    { kind: "put", item: { ...keys.artifactRun(uid), v: 1, run_id } },
  ];
}

/** What the run tells of an artifact that has come to be there. */
export function createdChange(head: ExecutingHead, artifact: StoredArtifact, bytes: number, now: number): Change {
  return {
    touch: true,
    events: [{ type: "artifact_created", data: artifactFacts(artifact) }],
    set: {
      artifact_types: [...new Set([...(head.artifact_types ?? []), artifact.artifact_type])],
      artifacts: head.artifacts + 1,
      artifact_bytes: head.artifact_bytes + bytes,
      heartbeat_at: now,
    },
  };
}
