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
 * What separates commands from the host: bubblewrap, with a filter of system calls or without; the machine, which is the
 * execution's own; or nothing.
 */
const ISOLATIONS = ["bubblewrap", "bubblewrap-unfiltered", "machine", "none"] as const;
export type Isolation = (typeof ISOLATIONS)[number];

const TRIAL_MS = 20_000;
/** A busy host may lack processes or memory for a moment; each wait comes before another trial. */
const WAITS_MS = [500, 2_000];

/**
 * The isolation that was decided for this host before the execution: by `RUNYARD_SANDBOX`, else by whether bubblewrap is installed.
 * Whether it works now has no say in it: a command could make it fail, for every run of the host.
 * @throws Error for a setting that is none
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

export type Boundary = { readonly make: MakeSandbox } | { readonly failure: string };

/** Sets the boundary up, with a network where that works, and runs a command in it. Tries again for a few seconds. */
export async function setUpBoundary(options: BubblewrapOptions, paths: WorkspacePaths): Promise<Boundary> {
  let boundary = await tryBoundary(options, paths);
  for (const wait of WAITS_MS) {
    if ("make" in boundary) break;
    await sleep(wait);
    boundary = await tryBoundary(options, paths);
  }
  return boundary;
}

/** Some hosts let a namespace be made but not one inside another. */
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

/** Bytes that are kept of what a trial says about its failure. */
const REASON_LENGTH = 300;

/** Why a command cannot be run in the sandbox; undefined where it can. */
async function findFailure(sandbox: Sandbox, steps: string): Promise<string | undefined> {
  const probe = "probe.sh";
  await writeFile(join(steps, probe), "true\n");
  const trial = startLaunch(sandbox.launch(probe));
  let said = "";
  for (const stream of trial.output) {
    stream.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(0, REASON_LENGTH);
    });
  }
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void killTree(trial.process.pid, undefined);
  }, TRIAL_MS);
  const [code] = await once(trial.process, "close").catch((error: unknown) => {
    said = String(error);
    return [1];
  });
  clearTimeout(timer);
  if (isLate) return "it did not start in time";
  return code === 0 ? undefined : said.trim() || `it ended with exit code ${code}`;
}
