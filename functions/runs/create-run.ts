import { RunyardError } from "#shared/errors.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { submitRun } from "#shared/runs/submit-run.ts";
import { Flag } from "#shared/wire/primitives.ts";
import { RunAgentRequest, RunAgentResponse } from "#shared/wire/run.ts";

/** POST /agent/runs and POST /agent/run: creates a run and returns its id immediately. */
export const createRun = endpoint({
  request: { body: RunAgentRequest, query: { dry_run: one(Flag) } },
  reply: { 200: RunAgentResponse },
  errors: ["feature_not_available", "operation_not_supported"],
  rateLimit: "create",
  async run(call, ports: RunPorts) {
    if (call.query.dry_run === true) throw noDryRun();
    const { response, replayed } = await submitRun(call, ports);
    return { status: 200, body: response, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});

const noDryRun = () =>
  new RunyardError("operation_not_supported", {
    detail: "dry_run: is not supported by this release, and no run was created; leave it out to create the run",
  });
