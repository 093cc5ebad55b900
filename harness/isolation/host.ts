import { formatError, Stop } from "../support/stop.ts";
import { chooseIsolation, openTriedBoundary, readTriedNetwork, setUpBoundary, tryBoundary } from "./isolation.ts";
import { readLimits } from "./limits.ts";
import { findLimitedFiles } from "./machine.ts";
import { openNetwork } from "./network.ts";
import { type Controller, openProcessGroup } from "./process-group.ts";
import { findProgram } from "./programs.ts";
import { createPlainSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

/** The resources of an execution on its host, which are prepared while the harness loads, before the run is known. */
export interface Host {
  readonly workspace: Workspace;
  /** Whether the boundary ends all processes of a command with it. */
  readonly contained: boolean;
  /** The sandbox for the commands of one run. @throws Stop when its boundary could not be set up */
  sandbox(run: Omit<SandboxOptions, "host">): Sandbox;
  /** Removes all resources. */
  close(): Promise<void>;
}

/** Prepares the isolation that is configured for this host. If the boundary cannot be set up, the execution fails and is retried. */
export async function prepareHost(): Promise<Host> {
  const workspace = createWorkspace();
  try {
    const isolation = chooseIsolation();
    if (isolation === "machine" || isolation === "none") {
      const sandbox = (run: Omit<SandboxOptions, "host">) =>
        createPlainSandbox({ ...run, host: workspace.paths }, isolation);
      return { workspace, contained: false, sandbox, close: () => workspace.remove() };
    }
    const triedNetwork = readTriedNetwork();
    const { resources, close } = await openResources(workspace, triedNetwork);
    const options = { ...resources, filtered: isolation === "bubblewrap" };
    const setUp = () =>
      triedNetwork === undefined ? setUpBoundary(options, workspace.paths) : openTriedBoundary(options);
    const boundary = resources.bwrap === "" ? NOT_INSTALLED : await setUp();
    return "make" in boundary
      ? { workspace, contained: true, sandbox: (run) => boundary.make({ ...run, host: workspace.paths }), close }
      : { workspace, contained: false, sandbox: () => fail(boundary.failure), close };
  } catch (error) {
    return { workspace, contained: false, sandbox: () => fail(formatError(error)), close: () => workspace.remove() };
  }
}

const NOT_INSTALLED = { failure: "bwrap is not installed" };

function fail(reason: string): never {
  throw new Stop("unreachable", `the isolation boundary (bubblewrap) could not be set up: ${reason}`);
}

/** Opens the resources of an execution's isolation boundary. */
async function openResources(workspace: Workspace, withNetwork = true) {
  const bwrap = findProgram("bwrap") ?? "";
  const limits = readLimits();
  const network = bwrap === "" || !withNetwork ? undefined : await openNetwork();
  const group = bwrap === "" ? undefined : openProcessGroup(limits);
  return {
    resources: { bwrap, etc: workspace.etc, network, group, limits },
    close: async () => void (await Promise.all([network?.close(), group?.close(), workspace.remove()])),
  };
}

/** The isolation that this host supports, as a trial of each variant shows. */
export interface IsolationReport {
  readonly isolation: "bubblewrap" | "bubblewrap-unfiltered" | "none";
  /** Whether commands have network access; without a boundary they use the host's network. */
  readonly network: boolean;
  /** Why the host does not support bubblewrap with a filter. */
  readonly reason?: string;
  /** Who holds the limits of commands: the kernel, or the harness, which measures. Absent without a boundary. */
  readonly limits?: Readonly<Record<"memory" | "disk" | "files" | "processes", "kernel" | "harness">>;
}

export async function checkIsolation(): Promise<IsolationReport> {
  if (process.platform !== "linux") return { isolation: "none", network: true, reason: "bubblewrap needs Linux" };
  const workspace = createWorkspace();
  const { resources, close } = await openResources(workspace);
  try {
    if (resources.bwrap === "") return { isolation: "none", network: true, reason: NOT_INSTALLED.failure };
    let reason = "";
    for (const isolation of ["bubblewrap", "bubblewrap-unfiltered"] as const) {
      const options = { ...resources, filtered: isolation === "bubblewrap" };
      const boundary = await tryBoundary(options, workspace.paths);
      if ("failure" in boundary) {
        reason ||= boundary.failure;
        continue;
      }
      const { network } = boundary.make({ host: workspace.paths, runId: "", marker: {} });
      const isLimited = (controller: Controller) => resources.group?.limited.includes(controller) === true;
      const limited = findLimitedFiles(workspace.root, resources.limits);
      const limits = {
        memory: isLimited("memory") ? "kernel" : "harness",
        disk: limited.includes("disk") ? "kernel" : "harness",
        files: limited.includes("files") ? "kernel" : "harness",
        // The kernel's limit per user does not apply to root.
        processes: isLimited("pids") || process.getuid?.() !== 0 ? "kernel" : "harness",
      } as const;
      return { isolation, network, limits, ...(reason === "" ? {} : { reason }) };
    }
    return { isolation: "none", network: true, reason };
  } finally {
    await close();
  }
}
