import { RunyardError } from "#shared/errors.ts";
import { artifactFacts, type StoredArtifact } from "#shared/records/artifact.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { AttributeChange } from "#shared/runs/transition.ts";

/** The error of a run without space for another artifact. It is not retryable, since a run never frees space. */
export const artifactLimitError = () =>
  new RunyardError("resource_unavailable", {
    status: 429,
    retryable: false,
    detail: `a run stores at most ${RUN_CAPS.artifacts} artifacts of ${RUN_CAPS.artifactBytes} bytes in total`,
  });

/**
 * The change of the run when an artifact becomes visible.
 * @param heartbeatAt when the execution that is at work reported it; undefined for an artifact of an earlier execution
 */
export function toCreatedChange(
  head: RunHead,
  artifact: StoredArtifact,
  bytes: number,
  heartbeatAt?: number,
): AttributeChange {
  return {
    touch: true,
    events: [{ type: "artifact_created", data: artifactFacts(artifact) }],
    set: {
      artifact_types: [...new Set([...(head.artifact_types ?? []), artifact.artifact_type])],
      artifacts: head.artifacts + 1,
      artifact_bytes: head.artifact_bytes + bytes,
      ...(heartbeatAt === undefined ? {} : { heartbeat_at: heartbeatAt }),
    },
  };
}
