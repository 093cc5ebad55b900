import * as v from "valibot";
import { dryRun } from "#shared/dry-run/dry-run.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { submitRun } from "#shared/runs/submit-run.ts";
import { Flag } from "#shared/wire/primitives.ts";
import { DryRunResponse, RunAgentRequest, RunAgentResponse } from "#shared/wire/run.ts";

/**
 * POST /agent/runs and POST /agent/run: creates a run and returns its id immediately. The run starts `QUEUED`; read it,
 * list its events or follow it to see its progress. The body must have a `prompt`, a skill or a `conversation_id`. If
 * the team already executes as many runs as its `concurrency_limit` allows, the run waits and `at_capacity` is true; if
 * its `queue_limit` is reached, the response is 429. A caller can create at most 3,000 runs per minute by default. With
 * `dry_run=true`, the response says whether the run would be created and what to know before, and nothing is created.
 */
export const createRun = endpoint({
  request: { body: RunAgentRequest, query: { dry_run: one(Flag) } },
  reply: { 200: v.union([RunAgentResponse, DryRunResponse]) },
  errors: ["feature_not_available", "operation_not_supported", "budget_exceeded", "resource_not_found"],
  rateLimit: "create",
  async run(call, ports: RunPorts) {
    if (call.query.dry_run === true) return { status: 200, body: await dryRun(call, ports) };
    const { response, replayed } = await submitRun(call, ports);
    return { status: 200, body: response, headers: toReplayHeaders(replayed) };
  },
});
