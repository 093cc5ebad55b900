import { rm } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { lastLines, runCommand } from "./commands.ts";
import { readJson, writeJson } from "./files.ts";
import { Problem } from "./terminal.ts";

/** Pinned exactly: what the emulator does, and does wrong, was measured with these. */
const EMULATOR_PACKAGES = ["ministack==1.5.33", "cryptography==50.0.2"];

const Stamp = v.object({ packages: v.array(v.string()) });

/** Makes a virtual environment, the emulator's by default, unless the one that is there already has exactly these packages. */
export async function ensurePythonEnvironment(
  venv: string,
  python: string,
  signal: AbortSignal,
  packages: readonly string[] = EMULATOR_PACKAGES,
): Promise<"kept" | "made"> {
  const stampFile = path.join(venv, "runyard-stamp.json");
  const stamp = await readJson(stampFile, Stamp);
  if (stamp !== undefined && stamp.packages.join() === packages.join() && (await runs(venv))) return "kept";

  await rm(venv, { recursive: true, force: true });
  const made = await runCommand(python, ["-m", "venv", venv], { timeoutSeconds: 120, signal });
  if (made.code !== 0) throw new Problem(`${python} could not make ${venv}.`, lastLines(made.output, 8));
  const installed = await runCommand(
    path.join(venv, "bin", "python"),
    ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries", "2", ...packages],
    { timeoutSeconds: 280, signal },
  );
  if (installed.code !== 0) {
    throw new Problem(
      `pip could not install ${packages.join(" and ")}: is a package index reachable (PIP_INDEX_URL, HTTPS_PROXY)?`,
      lastLines(installed.output, 8),
    );
  }
  await writeJson(stampFile, { packages });
  return "made";
}

/** A virtual environment stops working when the Python that it was made with is removed. */
async function runs(venv: string): Promise<boolean> {
  const probe = await runCommand(path.join(venv, "bin", "python"), ["-c", ""], { timeoutSeconds: 20 });
  return probe.code === 0;
}
