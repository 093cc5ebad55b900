import * as v from "valibot";
import { toTrialRequest } from "#shared/environments/environment-trial.ts";
import { findVisibleEnvironment } from "#shared/environments/read-environments.ts";
import { notFound, RunyardError } from "#shared/errors.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { submitRun } from "#shared/runs/submit-run.ts";
import { RunAgentResponse } from "#shared/wire/runs/new-run.ts";

/**
 * POST /agent/environments/{environmentUid}/try: creates a run that only sets up the environment. It clones the
 * repositories and runs the setup commands, calls no model, and then ends. The result is in the run's timeline and in
 * `setup_failed` of the environment. On a machine with bubblewrap, it becomes the environment's `setup_snapshot`, with
 * which later runs start.
 */
export const tryEnvironment = endpoint({
  request: { path: v.object({ environmentUid: PathId }) },
  reply: { 200: RunAgentResponse },
  errors: ["feature_not_available", "operation_not_supported", "budget_exceeded"],
  rateLimit: "create",
  async run({ path, ...call }, ports: RunPorts) {
    const { principal } = call;
    const environment = await findVisibleEnvironment(path.environmentUid, principal, undefined, ports.table);
    // The source of such a run is always API.
    const header = (name: string) => (name.endsWith("-source") ? undefined : call.header(name));
    const trial = { ...call, header, body: toTrialRequest(environment), setsUp: true };
    const { response, replayed } = await submitRun(trial, ports).catch((error: unknown) => {
      if (refuses(error, "config.environment_id")) throw notFound("environment");
      if (refuses(error, "config.worker_host")) throw personalWorkerConflict();
      throw error;
    });
    return { status: 200, body: response, headers: toReplayHeaders(replayed) };
  },
});

/** Whether a run was refused because of a member, which the request does not have: the environment sets it. */
const refuses = (error: unknown, member: string): boolean =>
  error instanceof RunyardError && error.errors?.some(({ path }) => path === member) === true;

const personalWorkerConflict = () =>
  new RunyardError("conflict", {
    detail: "the environment's worker_host executes runs of a team only: clear it, or create the environment in a team",
    retryable: false,
  });
