import * as v from "valibot";
import type { EventPorts } from "#shared/conversations/live-output.ts";
import { showRun } from "#shared/conversations/show-run.ts";
import { waitForEnd } from "#shared/conversations/wait-for-end.ts";
import { dryRun } from "#shared/dry-run/dry-run.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import { submitRun } from "#shared/runs/submit-run.ts";
import { Flag, WaitSeconds } from "#shared/wire/primitives.ts";
import { RunItem } from "#shared/wire/run.ts";
import { DryRunResponse, RunAgentRequest, RunAgentResponse } from "#shared/wire/runs/new-run.ts";

/**
 * POST /agent/runs and POST /agent/run: creates a run and returns its id immediately. The run starts `QUEUED`; read it,
 * list its events or follow it to see its progress. The body must have a `prompt`, a skill or a `conversation_id`. If
 * the team already executes as many runs as its `concurrency_limit` allows, the run waits and `at_capacity` is true; if
 * its `queue_limit` is reached, the response is 429. A caller can create at most 3,000 runs per minute by default. With
 * `wait`, the response is held back up to that many seconds: if the run ends in that time, it is the run, otherwise the
 * usual one. Each end of a run with a `notify_url` is sent there, signed with the `notify_secret` of the response. With `dry_run=true`, the response says whether the run would be created and what to know before, and
 * nothing is created.
 */
export const createRun = endpoint({
  request: {
    body: RunAgentRequest,
    query: {
      /**
       * Whether to only check the request. `true` returns a DryRunResponse, and creates and counts nothing. An
       * `Idempotency-Key` is ignored. @default false
       */
      dry_run: one(Flag),
      /**
       * The maximum number of seconds to wait for the run's end, 0 to 25. A run that ends in that time is the response,
       * with its state and results. @default 0
       */
      wait: one(WaitSeconds),
    },
  },
  // The first schema that fits formats the response, so that the one with the most members is the first.
  reply: { 200: v.union([RunItem, RunAgentResponse, DryRunResponse]) },
  errors: ["feature_not_available", "operation_not_supported", "budget_exceeded", "resource_not_found"],
  rateLimit: "create",
  async run(call, ports: EventPorts) {
    if (call.query.dry_run === true) return { status: 200, body: await dryRun(call, ports) };
    const { response, replayed } = await submitRun(call, ports);
    const headers = toReplayHeaders(replayed);
    const { wait = 0 } = call.query;
    // A run that its caller executes cannot end before the caller has its key.
    const waits = wait > 0 && response.run_key === undefined;
    const head = waits ? await waitForEnd(response.run_id, wait, ports) : undefined;
    if (head === undefined) return { status: 200, body: response, headers };
    const run = await visibleRun(head.run_id, await call.authenticateAgain(), ports);
    const { notify_secret: secret } = response;
    const item = await showRun(run, ports);
    return { status: 200, body: secret === undefined ? item : { ...item, notify_secret: secret }, headers };
  },
});
