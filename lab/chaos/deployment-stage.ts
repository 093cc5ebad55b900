import path from "node:path";
import * as v from "valibot";
import { readJson } from "../../server/host/files.ts";
import { ProcessMark } from "../../server/host/processes.ts";
import { Problem } from "../../server/host/terminal.ts";
import { startCloud } from "../bench/cloud.ts";
import { DeploymentStore } from "./deployment-store.ts";
import { countInjectedFaults } from "./injected.ts";
import { DEPLOYMENT_WEIGHTS, generateStrikes } from "./plan.ts";
import type { Stage } from "./stage.ts";
import { classifyFunction, Targets } from "./targets.ts";

const Processes = v.object({ emulator: ProcessMark, scratch: v.string() });

/** The deployment on an AWS emulator; `faults`: the seed of faults in its calls to AWS. */
export async function startDeployment(faults: number | undefined): Promise<Stage> {
  const cloud = await startCloud(faults === undefined ? [] : ["--faults", String(faults)]);
  const processes = await readJson(path.join(cloud.home, "pids.json"), Processes);
  if (processes === undefined) {
    await cloud.stop();
    throw new Problem("The emulator does not list its processes.");
  }
  return {
    api: cloud.api,
    targets: new Targets(processes.scratch, classifyFunction, processes.emulator.pid),
    store: new DeploymentStore(cloud.emulator),
    strikes: (seed) => generateStrikes(seed, DEPLOYMENT_WEIGHTS),
    killsPerRun: 0.75,
    countFaults: async () => (faults === undefined ? undefined : countInjectedFaults(cloud.emulator)),
    quiesce: async () => undefined,
    stop: () => cloud.stop(),
  };
}
