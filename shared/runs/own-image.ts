import { RunyardError } from "#shared/errors.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunPorts } from "./run-ports.ts";

export const NO_CONTAINERS =
  "the environment has a docker_image, and this deployment no containers: clear it, or deploy with fargate in the setting sandboxes";

/** Refuses a run in an environment whose image would be ignored. The caller of a LOCAL run chooses where it is executed. */
export function refuseIgnoredImage(
  { docker_image, execution_location }: Pick<RunBody, "docker_image" | "execution_location">,
  { hasContainers }: Pick<RunPorts, "hasContainers">,
): void {
  if (docker_image === undefined || execution_location === "LOCAL" || hasContainers) return;
  throw new RunyardError("operation_not_supported", { detail: `config.environment_id: ${NO_CONTAINERS}` });
}
