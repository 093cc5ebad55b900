import * as v from "valibot";
import { readPrompt } from "#shared/conversations/conversation.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { readUsage } from "#shared/records/budget-account.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import { toRunItem } from "#shared/runs/run-item.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunItem } from "#shared/wire/run.ts";

/**
 * GET /agent/runs/{runId}: returns a run with its full prompt, configuration and artifacts. The configuration is the
 * resolved one, with the defaults of the identity, the environment and the team applied. Secret values are shown as
 * `***`.
 */
export const getRun = endpoint({
  request: { path: v.object({ runId: PathId }) },
  reply: { 200: RunItem },
  async run({ path, principal }, ports: RunPorts) {
    const { head, body } = await visibleRun(path.runId, principal, ports);
    const [prompt, artifacts, [used]] = await Promise.all([
      readPrompt(body, ports),
      head.artifacts > 0 ? ports.runs.artifacts(path.runId) : [],
      readUsage([head], ports.table),
    ]);
    const item = toRunItem(head, { ...body, prompt }, artifacts, { webUrl: ports.webUrl, now: ports.now(), used });
    return { status: 200, body: item };
  },
});
