import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BubblewrapOptions, bubblewrapSandbox } from "./bubblewrap.ts";
import { startLaunch } from "./launch.ts";
import { limitsOf } from "./limits.ts";
import { openNetwork } from "./network.ts";
import { openProcessGroup } from "./process-group.ts";
import { killTree } from "./processes.ts";
import { findProgram } from "./programs.ts";
import { plainSandbox, type Sandbox, type SandboxOptions, type WorkspacePaths } from "./sandbox.ts";
import { Stop } from "./stop.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

const TRIAL_MS = 20_000;

/** What an execution needs of its host; made before anything is known of the run, while the harness still loads. */
export interface Host {
  readonly workspace: Workspace;
  /** The sandbox for the commands of one run. @throws Stop when bubblewrap is demanded and does not work */
  sandbox(run: Omit<SandboxOptions, "host">): Sandbox;
  /** Removes all that was made. */
  close(): Promise<void>;
}

/**
 * Bubblewrap where it works, with a network where that works too, else no wall of ours. `RUNYARD_SANDBOX` (none or
 * bubblewrap) forces one.
 */
export async function prepareHost(): Promise<Host> {
  const wanted = process.env["RUNYARD_SANDBOX"];
  const bwrap = wanted === "none" || process.platform !== "linux" ? undefined : findProgram("bwrap");
  const [workspace, network] = await Promise.all([createWorkspace(), bwrap === undefined ? undefined : openNetwork()]);
  const limits = limitsOf();
  const group = bwrap === undefined ? undefined : openProcessGroup(limits.processes);
  const { etc, paths } = workspace;
  const way = bwrap === undefined ? undefined : await tryBubblewrap({ bwrap, etc, network, group, limits }, paths);
  return {
    workspace,
    sandbox(run) {
      const options = { ...run, host: workspace.paths };
      if (way !== undefined) return way(options);
      if (wanted === "bubblewrap")
        throw new Stop("unreachable", "bubblewrap is demanded but does not work on this host");
      return plainSandbox(options);
    },
    async close() {
      await Promise.all([network?.close(), group?.close(), workspace.remove()]);
    },
  };
}

/** Some hosts let a namespace be made but not one inside another, or filter nothing, so each way is tried in the form that commands use. */
async function tryBubblewrap(options: Omit<BubblewrapOptions, "filtered">, paths: WorkspacePaths) {
  const { network } = options;
  for (const filtered of [true, false]) {
    for (const way of network === undefined ? [undefined] : [network, undefined]) {
      const make = await bubblewrapSandbox({ ...options, network: way, filtered });
      const trial = works(make({ host: paths, runId: "", marker: {} }), paths.steps);
      const [hasWorked, hasOpened] = await Promise.all([trial, way === undefined || way.opened]);
      if (hasWorked && hasOpened) return make;
    }
  }
  return undefined;
}

async function works(sandbox: Sandbox, steps: string): Promise<boolean> {
  const probe = "probe.sh";
  await writeFile(join(steps, probe), "true\n");
  const trial = startLaunch(sandbox.launch(probe));
  for (const stream of trial.output) stream.resume();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void killTree(trial.process.pid, undefined);
  }, TRIAL_MS);
  const [code] = await once(trial.process, "exit").catch(() => [1]);
  clearTimeout(timer);
  // A host that is too busy to tell is no reason to run commands without a wall.
  if (isLate) throw new Stop("unreachable", "bubblewrap did not start in time");
  return code === 0;
}
