import { invalid, RunyardError } from "#shared/errors.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import type { RunPorts } from "./run-ports.ts";

/** `hosted` and `warp` are names of this service's own sandboxes. */
export const namesWorker = (host: string | undefined): host is string =>
  host !== undefined && host !== "hosted" && host !== "warp";

/** Names of this service's own sandboxes, and of those of the service that the protocol comes from, are no ids of workers. */
export const isReservedWorkerId = (id: string): boolean => id === "hosted" || id.toLowerCase().startsWith("warp");

/** Refuses an id under which no worker can connect. */
export function checkWorkerHost(host: string | undefined, field: string): void {
  if (namesWorker(host) && isReservedWorkerId(host)) {
    throw invalid(
      field,
      "is reserved: the id of a self-hosted worker must not begin with warp; leave it out for hosted",
    );
  }
}

interface WorkerRun {
  readonly config?: AmbientAgentConfig;
  readonly execution_location?: "REMOTE" | "LOCAL";
}

/** Workers belong to a team, so they execute the runs of that team only. */
export function refusePersonalWorkerRun({ config, execution_location }: WorkerRun, owner: Owner): void {
  if (!namesWorker(config?.worker_host) || execution_location === "LOCAL" || owner.type === "Team") return;
  throw invalid("config.worker_host", "executes runs of a team only: send team: true, or leave worker_host out");
}

const NO_CONTAINERS =
  "the environment has a docker_image, and this deployment no containers: clear it, or deploy with fargate in the setting sandboxes";

interface PlacedRun extends Pick<RunBody, "docker_image" | "network" | "execution_location"> {
  readonly config: Pick<AmbientAgentConfig, "worker_host" | "harness"> | undefined;
}

type ImagePorts = Pick<RunPorts, "hasContainers" | "findImageProblem">;

/** Says why the deployment cannot execute a run in the image of its environment; undefined if it can. */
export function findImageProblem(harness: string | undefined, ports: ImagePorts): string | undefined {
  if (ports.hasContainers) return undefined;
  return ports.findImageProblem === undefined ? NO_CONTAINERS : ports.findImageProblem(harness);
}

/** Refuses a run in an environment whose image would be ignored. The caller of a LOCAL run, or a worker, chooses how it is executed. */
export function refuseIgnoredImage({ docker_image, execution_location, config }: PlacedRun, ports: ImagePorts): void {
  if (docker_image === undefined || execution_location === "LOCAL" || namesWorker(config?.worker_host)) return;
  const problem = findImageProblem(config?.harness?.type, ports);
  if (problem !== undefined)
    throw new RunyardError("operation_not_supported", { detail: `config.environment_id: ${problem}` });
}

/**
 * Refuses a run whose network would not be limited as its environment says. The harness limits it, so a worker, which is trusted with the
 * runs that name it, keeps it or fails the run before its first command.
 */
export function refuseUnkeptNetwork(
  { network, execution_location, config }: PlacedRun,
  { networkLimits }: Pick<RunPorts, "networkLimits">,
): void {
  if (network === undefined || network.mode === "open") return;
  const remedy = "choose another environment, or set its network.mode to open";
  const refuse = (who: string) => {
    const detail = `config.environment_id: ${who} cannot keep the environment's network.mode ${network.mode}: ${remedy}`;
    return new RunyardError("operation_not_supported", { detail });
  };
  if (execution_location === "LOCAL") throw refuse("a caller that executes the run itself");
  if (namesWorker(config?.worker_host)) return;
  if (!networkLimits().includes(network.mode)) throw refuse("this deployment");
}
