import type { Environment } from "#shared/environments/environment.ts";
import { copySetup, withEnvironment } from "#shared/environments/run-environment.ts";
import { invalid } from "#shared/errors.ts";
import { findModelError } from "#shared/models/models.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { choosePart } from "#shared/runs/capacity/counter-parts.ts";
import { withDefaults } from "#shared/runs/config-layers.ts";
import { withUsableFallbacks } from "#shared/runs/fallback-models.ts";
import { refuseIgnoredImage, refusePersonalWorkerRun, refuseUnkeptNetwork } from "#shared/runs/placement.ts";
import { resolveConfig } from "#shared/runs/plan-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { resolveSecrets } from "#shared/secrets/run-secrets.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { checkRunRequest, findExecutor, findScheduleEnvironment, withScheduleNames } from "./agent.ts";
import type { Schedule } from "./schedule.ts";

/** What starts a run without a caller: a schedule or a trigger. */
type Origin = Pick<Schedule, "owner" | "created_by" | "prompt"> & Partial<Pick<Schedule, "agent_uid" | "agent_config">>;

/** What is read to plan a run; nothing is written. */
export type UnattendedPorts = Pick<RunPorts, "table" | "hasContainers" | "findImageProblem" | "networkLimits">;

interface UnattendedRun {
  readonly request: RunAgentRequest;
  readonly environment: Environment | undefined;
  /** The part of its team's counters that counts it. */
  readonly part: number | undefined;
  /** The members of its body that do not depend on what starts it. */
  readonly common: Omit<RunBody, "title" | "source" | "mode">;
}

/**
 * Plans a run that nobody requests: its creator is that of its origin, and the origin's agent, if it has one, executes it. Refuses
 * a model, an identity or an environment that no longer exists.
 */
export async function planUnattendedRun(runId: string, origin: Origin, ports: UnattendedPorts): Promise<UnattendedRun> {
  const { agent_config, created_by, owner, prompt } = origin;
  const { executor, ...layers } = await findExecutor(origin, ports.table);
  const own = { prompt, ...(agent_config === undefined ? {} : { config: agent_config }) };
  checkRunRequest(own);
  const chosen = withDefaults(own, layers);
  const environment = await findScheduleEnvironment(origin, chosen.config, ports.table);
  const request = withUsableFallbacks(withEnvironment(chosen, environment), own);
  checkRunRequest(request);
  const modelError = findModelError(request.config);
  if (modelError !== undefined) throw invalid("agent_config.model_id", modelError);
  withScheduleNames(() => refusePersonalWorkerRun(request, owner));
  const placed = { ...copySetup(environment), execution_location: "REMOTE", config: request.config } as const;
  withScheduleNames(() => refuseIgnoredImage(placed, ports));
  withScheduleNames(() => refuseUnkeptNetwork(placed, ports));
  const common = {
    prompt,
    ...copySetup(environment),
    ...resolveSecrets({
      owner,
      creator: created_by,
      environment,
      identity: layers.identity,
      parent: undefined,
      config: resolveConfig(request),
    }),
    creator: created_by,
    executor,
    execution_location: "REMOTE",
    conversation_id: runId,
    ancestors: [],
    interactive: false,
    attachments: [],
  } as const;
  const part = choosePart(runId, layers.team);
  return { request, environment, part, common: { ...common, ancestors: [], attachments: [] } };
}
