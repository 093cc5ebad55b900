import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BubblewrapOptions, createBubblewrapSandbox } from "./bubblewrap.ts";
import { startLaunch } from "./launch.ts";
import { killTree } from "./processes.ts";
import { findProgram } from "./programs.ts";
import type { MakeSandbox, Sandbox, WorkspacePaths } from "./sandbox.ts";

/**
 * The isolation boundary between commands and the host: bubblewrap, with or without a system call filter; a machine that runs only this
 * execution; or none.
 */
const ISOLATIONS = ["bubblewrap", "bubblewrap-unfiltered", "machine", "none"] as const;
export type Isolation = (typeof ISOLATIONS)[number];

const TRIAL_MS = 20_000;
/** The delays before further trials, because a busy host may lack processes or memory for a moment. */
const WAITS_MS = [500, 2_000];

/**
 * Chooses the isolation by `RUNYARD_SANDBOX`, or else by whether bubblewrap is installed. It does not depend on whether bubblewrap works
 * at the moment: otherwise a command that makes it fail could disable isolation for every run on the host.
 * @throws Error for an invalid setting
 */
export function chooseIsolation(): Isolation {
  const setting = process.env["RUNYARD_SANDBOX"];
  if (setting === undefined || setting === "") {
    return process.platform === "linux" && findProgram("bwrap") !== undefined ? "bubblewrap" : "none";
  }
  const known = ISOLATIONS.find((isolation) => isolation === setting);
  if (known === undefined) throw new Error(`RUNYARD_SANDBOX takes one of ${ISOLATIONS.join(", ")}, not "${setting}"`);
  return known;
}

/**
 * Whether commands have a network, where the program that starts harnesses has tried the boundary on this host (`RUNYARD_SANDBOX_TRIED`).
 * Undefined where it has not, so that each execution tries the boundary before its first command.
 */
export function readTriedNetwork(): boolean | undefined {
  const tried = process.env["RUNYARD_SANDBOX_TRIED"];
  return tried === "network" || tried === "no-network" ? tried === "network" : undefined;
}

/** Sets up a boundary that was tried on this host. Its first command shows if that fails. */
export async function openTriedBoundary(options: BubblewrapOptions): Promise<Boundary> {
  const { network } = options;
  const hasNetwork = network !== undefined && (await network.opened);
  return { make: await createBubblewrapSandbox({ ...options, network: hasNetwork ? network : undefined }) };
}

export type Boundary = { readonly make: MakeSandbox } | { readonly failure: string };

/** Sets up the boundary, with a network if possible, and runs a command in it. Retries for a few seconds. */
export async function setUpBoundary(options: BubblewrapOptions, paths: WorkspacePaths): Promise<Boundary> {
  let boundary = await tryBoundary(options, paths);
  for (const wait of WAITS_MS) {
    if ("make" in boundary) break;
    await sleep(wait);
    boundary = await tryBoundary(options, paths);
  }
  return boundary;
}

/** Tries the boundary with a network and then without: some hosts allow a namespace but not a nested one. */
export async function tryBoundary(options: BubblewrapOptions, paths: WorkspacePaths): Promise<Boundary> {
  const { network } = options;
  let failure = "";
  for (const way of network === undefined ? [undefined] : [network, undefined]) {
    const make = await createBubblewrapSandbox({ ...options, network: way });
    const trial = findFailure(make({ host: paths, runId: "", marker: {} }), paths.steps);
    const [found, hasOpened] = await Promise.all([trial, way === undefined || way.opened]);
    if (found === undefined && hasOpened) return { make };
    failure = found ?? "the network did not open";
  }
  return { failure };
}

/** The longest error output of a trial. */
const REASON_LENGTH = 300;

/** Returns why a command cannot run in the sandbox; undefined if it can. */
async function findFailure(sandbox: Sandbox, steps: string): Promise<string | undefined> {
  const probe = "probe.sh";
  await writeFile(join(steps, probe), "true\n");
  const trial = startLaunch(sandbox.launch(probe));
  let output = "";
  for (const stream of trial.output) {
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(0, REASON_LENGTH);
    });
  }
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void killTree(trial.process.pid, undefined);
  }, TRIAL_MS);
  const [code] = await once(trial.process, "close").catch((error: unknown) => {
    output = String(error);
    return [1];
  });
  clearTimeout(timer);
  if (isLate) return "it did not start in time";
  return code === 0 ? undefined : output.trim() || `it ended with exit code ${code}`;
}
