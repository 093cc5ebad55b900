import * as v from "valibot";
import { readFinalMessage } from "#shared/conversations/conversation.ts";
import { truncateText } from "#shared/conversations/truncate.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { checkOutput } from "#shared/output/check-output.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import { shownArtifacts } from "#shared/runs/run-item.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ArtifactItem } from "#shared/wire/artifact.ts";
import { RunState } from "#shared/wire/run.ts";

/**
 * GET /agent/runs/{runId}/response: returns the agent's final message, the run's state and artifacts. `text` is empty
 * until the agent has written a message and is truncated to 256 KiB. `structured` is the value of a message that fits the run's
 * `output_schema`.
 */
export const getResponse = endpoint({
  request: { path: v.object({ runId: PathId }) },
  reply: {
    200: v.object({
      /** The agent's final message, or an empty string. */
      text: v.string(),
      /** The value of the final message, if the run has an `output_schema` and the message fits it. */
      structured: v.exactOptional(v.unknown()),
      /** The run's current state. */
      state: RunState,
      /** The run's artifacts, oldest first. */
      artifacts: v.array(ArtifactItem),
    }),
  },
  async run({ path, principal }, ports: RunPorts) {
    const { head, body } = await visibleRun(path.runId, principal, ports);
    const text = await readFinalMessage(head, ports);
    const artifacts = head.artifacts > 0 ? await ports.runs.artifacts(path.runId) : [];
    const output = body.config.output_schema === undefined ? {} : checkOutput(text, body.config.output_schema);
    return {
      status: 200,
      body: {
        text: truncateText(text),
        ...("structured" in output ? { structured: output.structured } : {}),
        state: head.state,
        artifacts: shownArtifacts(artifacts),
      },
    };
  },
});
