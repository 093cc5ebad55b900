import { endpoint } from "#shared/http/endpoint.ts";
import { createRun as create } from "#shared/runs/create.ts";
import { liveRuns } from "#shared/runs/live.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { RunAgentRequest, RunAgentResponse } from "#shared/wire/run.ts";

/** POST /agent/runs and POST /agent/run: takes a prompt and answers with the run's id at once. */
export const createRun = endpoint({
  request: { body: RunAgentRequest },
  reply: { 200: RunAgentResponse },
  errors: ["feature_not_available", "operation_not_supported"],
  rateLimit: "create",
  async run(call, ports: RunPorts) {
    const { response, replayed } = await create(call, ports);
    return { status: 200, body: response, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});

export const handler = createRun.lambda(liveRuns);
