import * as v from "valibot";
import { showRun } from "#shared/conversations/show-run.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
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
    return { status: 200, body: await showRun(await visibleRun(path.runId, principal, ports), ports) };
  },
});
