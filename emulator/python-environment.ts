import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { lastLines, runCommand } from "../server/host/commands.ts";
import { readJson, writeJson } from "../server/host/files.ts";
import { Problem } from "../server/host/terminal.ts";

/**
 * Every package that the emulator needs, exactly and with its hashes: the behavior of the emulator, and its bugs, were measured
 * with these.
 */
const EMULATOR_REQUIREMENTS = path.join(import.meta.dirname, "emulator-requirements.txt");

const PIP_INSTALL = [
  ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries", "2"],
  ...["--require-hashes", "--no-deps"],
];

const Stamp = v.object({ requirements: v.string() });

/**
 * Makes a virtual environment, the emulator's by default, unless the one that is there already has exactly what the file requires. pip installs what the file
 * has a hash for, and nothing else.
 */
export async function ensurePythonEnvironment(
  venv: string,
  python: string,
  signal: AbortSignal,
  requirements: string = EMULATOR_REQUIREMENTS,
): Promise<"kept" | "made"> {
  const stampFile = path.join(venv, "runyard-stamp.json");
  const digest = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex");
  const stamp = await readJson(stampFile, Stamp);
  if (stamp?.requirements === digest && (await runs(venv))) return "kept";

  await rm(venv, { recursive: true, force: true });
  const creation = await runCommand(python, ["-m", "venv", venv], { timeoutSeconds: 120, signal });
  if (creation.code !== 0) throw new Problem(`${python} could not make ${venv}.`, lastLines(creation.output, 8));
  const installed = await runCommand(
    path.join(venv, "bin", "python"),
    [...PIP_INSTALL, "--requirement", requirements],
    { timeoutSeconds: 280, signal },
  );
  if (installed.code !== 0) {
    throw new Problem(
      `pip could not install what ${path.basename(requirements)} requires: is a package index reachable (PIP_INDEX_URL, HTTPS_PROXY)?`,
      lastLines(installed.output, 8),
    );
  }
  await writeJson(stampFile, { requirements: digest });
  return "made";
}

/** A virtual environment stops working when the Python that it was made with is removed. */
async function runs(venv: string): Promise<boolean> {
  const probe = await runCommand(path.join(venv, "bin", "python"), ["-c", ""], { timeoutSeconds: 20 });
  return probe.code === 0;
}
