/** `npm run lab -- drill`: installs, upgrades, restores, removes and reinstalls a deployment on the emulator, by the commands of docs/aws.md. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { complain, Problem, red, say, seconds, step } from "../server/host/terminal.ts";
import { type DrillCloud, startDrillCloud } from "./drill/cloud.ts";
import { Drill } from "./drill/drill.ts";
import { checkOutRelease, copyCheckout, removeRelease } from "./drill/releases.ts";

const HELP = `Usage: npm run lab -- drill [options]

Tries the installation guide (docs/aws.md) on the AWS emulator, with the templates for AWS and the guide's own commands: installs
the previous release, creates a run, a schedule, a key and an artifact, upgrades to this checkout, restores the table into a new one,
removes everything, installs next to the retained table, and adds the addresses. After each step the data must respond as before.
It takes several minutes and leaves nothing behind.

  --from COMMIT   the release that is upgraded (default: HEAD~1)
  --help          show this text

RUNYARD_PYTHON names the Python (3.10 or later) that runs the emulator and the AWS CLI.`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (typeof options === "string") {
    complain(`${options}\n\n${HELP}`);
    return 2;
  }
  if (options.help) {
    say(HELP);
    return 0;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const home = await mkdtemp(path.join(tmpdir(), "runyard-drill-"));
  const began = performance.now();
  try {
    await runDrill(home, options.from, stop.signal);
    say(`Every step of the drill passed, after ${seconds(performance.now() - began)}.`);
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 130;
    complain(red(error instanceof Error ? error.message : String(error)));
    for (const line of error instanceof Problem ? error.details : []) complain(`  ${line}`);
    return 1;
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runDrill(home: string, from: string, signal: AbortSignal): Promise<void> {
  let cloud: DrillCloud | undefined;
  const previous = await step("previous", async (note) => {
    const release = await checkOutRelease(from, path.join(home, "previous"));
    note(release.name);
    return release;
  });
  try {
    const current = await copyCheckout(path.join(home, "current"));
    cloud = await step("emulator", async (note) => {
      const started = await startDrillCloud(
        path.join(home, "cloud"),
        process.env["RUNYARD_PYTHON"] ?? "python3",
        signal,
      );
      note(started.url);
      return started;
    });
    const drill = new Drill(cloud, { previous, current });
    for (const [name, work] of drill.steps) {
      signal.throwIfAborted();
      await step(name, work);
    }
  } finally {
    await cloud?.stop();
    await removeRelease(previous);
  }
}

function readOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      options: { from: { type: "string", default: "HEAD~1" }, help: { type: "boolean", default: false, short: "h" } },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
