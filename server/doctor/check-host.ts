import { existsSync } from "node:fs";
import { inOwnFileSystem } from "#shared/sandbox/own-file-system.ts";
import { createScratch, removeScratch } from "#shared/sandbox/scratch.ts";
import { findIsolation, type IsolationReport } from "../host/isolation.ts";
import { firstFreePort, isFree } from "../host/ports.ts";
import { findMissingTools, installTools } from "../host/preflight.ts";
import { Problem } from "../host/terminal.ts";
import { checkSwitches } from "../switches.ts";
import { type Check, failed, ok, warning } from "./check.ts";

const OLDEST_NODE = 24;

export function checkNode(version = process.versions.node): Check {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return ok("node", `Node ${version}`);
  return failed("node", `Node ${version} is too old`, `Install Node ${OLDEST_NODE} or newer: https://nodejs.org`);
}

/** Nothing, unless a variable has a value that a start refuses. */
export function checkVariables(environment: NodeJS.ProcessEnv): Check[] {
  try {
    checkSwitches(environment);
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [failed("variables", error.message, "Correct the variable: the service does not start with this value.")];
  }
}

/** The programs that agents' commands rely on. */
export async function checkPrograms(host: { platform: NodeJS.Platform; searchPath: string }): Promise<Check[]> {
  if (host.platform === "win32") return [failed("tools", "native Windows is not supported", "Run this inside WSL2.")];
  const missing = await findMissingTools(host);
  if (missing.length === 0) return [ok("tools", "all programs that agents use are installed")];
  return missing.map((tool) => {
    const remedy = `Install it: ${installTools([tool], host.platform)}`;
    return tool.without === undefined
      ? failed(tool.program, "is missing", remedy)
      : warning(tool.program, `is missing: ${tool.without}`, remedy);
  });
}

const INSTALL =
  process.platform === "linux"
    ? "Install bubblewrap and slirp4netns and allow unprivileged user namespaces, or use --no-sandbox."
    : "bubblewrap exists for Linux only: run the service in a Linux VM, or use --no-sandbox.";

/**
 * Isolates a command as a run would be, and says who holds the limits of commands. A service needs isolation unless configured otherwise.
 * @param scratch where the directories of executions are. @default the temporary directory
 */
export async function checkIsolation(isNeeded: boolean, scratch?: string): Promise<Check[]> {
  const report = await tryIsolation(scratch);
  const limits = Object.entries(report.limits ?? {}).map(([name, holder]) => ok(`${name} limit`, HOLDERS[holder]));
  return [checkBoundary(report, isNeeded), ...limits];
}

/** Tries the isolation in a directory like those of executions, with a file system of its own where they have one. */
async function tryIsolation(scratch: string | undefined): Promise<IsolationReport> {
  // Before the first start there is none yet.
  const folder = await createScratch(scratch !== undefined && existsSync(scratch) ? scratch : undefined);
  try {
    const settings = { RUNYARD_SANDBOX: "bubblewrap", ...process.env };
    return await findIsolation({ folder, toCommand: (command) => inOwnFileSystem(folder, command, settings) });
  } finally {
    await removeScratch(folder);
  }
}

const HOLDERS = {
  kernel: "held by the kernel",
  harness: "measured by the harness, so commands can exceed it for a moment",
} as const;

function checkBoundary({ isolation, network, reason = "unknown" }: IsolationReport, isNeeded: boolean): Check {
  if (isolation === "none") {
    const detail = `commands cannot be isolated: ${reason}`;
    return isNeeded ? failed("isolation", detail, INSTALL) : warning("isolation", detail, INSTALL);
  }
  if (!network) {
    return warning(
      "isolation",
      `${isolation}, but commands have no network: ${reason}`,
      "Install slirp4netns and iproute2.",
    );
  }
  if (isolation === "bubblewrap") return ok("isolation", "bubblewrap, tried with a command");
  return warning("isolation", `system calls are not filtered: ${reason}`, "Allow the seccomp filter of bubblewrap.");
}

/**
 * Whether the port can be listened on; a running service of this directory has it already.
 * @param isExplicit whether starts name the port with --port, which they then use or fail
 */
export async function checkPort(port: number, ownUrl: string | undefined, isExplicit = false): Promise<Check> {
  if (ownUrl !== undefined) return ok("port", `this service runs at ${ownUrl}`);
  if (await isFree(port)) return ok("port", `${port} is free`);
  const next = await firstFreePort(port + 1);
  const detail = `${port} is used by another program`;
  if (isExplicit) return failed("port", detail, `End that program, or start with a free port, such as --port ${next}.`);
  return warning("port", detail, `The next start uses ${next}, or choose one with --port.`);
}
