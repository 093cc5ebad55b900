import path from "node:path";
import type { TaskAssignment } from "#shared/wire/worker.ts";
import { type DecidedIsolation, decideIsolation, listNetworkLimits, toHarnessVariables } from "../host/isolation.ts";
import { Problem } from "../host/terminal.ts";
import { HarnessPrograms } from "../sandbox/harness-programs.ts";
import { findImageProblem, findMissingImageTools, imagesPath } from "../sandbox/images.ts";
import { createRegistryVariables } from "../sandbox/registry-variables.ts";

/** How a worker executes runs. */
interface WorkerHarness {
  readonly programs: HarnessPrograms;
  /** The program for the next run, with the registries of images that the worker's file names now. */
  readonly program: HarnessPrograms["main"];
  /** Where images of environments are kept. @default this machine executes none */
  readonly images: string | undefined;
  /** Says why this machine cannot execute a task, and what to do; undefined if it can. */
  findProblem(task: Pick<TaskAssignment["data"], "docker_image" | "network">): string | undefined;
}

/**
 * Prepares the programs that execute runs, with the isolation of their commands on this machine.
 * @param directory of the worker's file and images
 * @throws Problem if there is no isolation and `isolates` requires it
 */
export async function prepareHarness(
  isolates: boolean,
  directory: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<WorkerHarness> {
  const decided = await decideIsolation(isolates ? process.env["RUNYARD_SANDBOX"] : "none");
  if (decided.isolation === "none" && isolates && process.env["RUNYARD_SANDBOX"] !== "none") {
    throw new Problem("Runs are not executed without isolation.", [
      "Install bubblewrap, or use --no-sandbox if everybody in the team may run commands as this user.",
    ]);
  }
  const missing = findMissingImageTools();
  const keepsImages = findImageProblem(decided, undefined, missing) === undefined;
  const images = keepsImages ? imagesPath(path.resolve(directory)) : undefined;
  const own = images === undefined ? {} : { RUNYARD_IMAGES: images };
  const programs = new HarnessPrograms({ ...toHarnessVariables(decided), ...own });
  const addRegistries = createRegistryVariables(path.resolve(directory), environment);
  return {
    programs,
    program: () => addRegistries(programs.main()),
    images,
    findProblem: ({ docker_image, network }) =>
      (docker_image === undefined ? undefined : findImageProblem(decided, undefined, missing)) ??
      (network === undefined ? undefined : findNetworkProblem(network, decided)),
  };
}

const findNetworkProblem = (
  mode: NonNullable<TaskAssignment["data"]["network"]>,
  decided: DecidedIsolation,
): string | undefined =>
  listNetworkLimits(decided).includes(mode)
    ? undefined
    : `the environment's network.mode is ${mode}, which this worker cannot keep: install bubblewrap${mode === "allowlist" ? " and slirp4netns" : ""} on its machine, or set network.mode to open`;
