import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { glob, rm } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ensurePythonEnvironment } from "../../../emulator/python-environment.ts";
import { runCommand } from "../../../server/host/commands.ts";
import { projectRoot } from "../../../server/host/paths.ts";
import { Problem } from "../../../server/host/terminal.ts";
import { onInterrupt } from "../interruption.ts";

/** The minor versions of Python 3 that a peer's requirements were resolved for, the preferred one first. */
const PYTHONS = { langgraph: [11, 12, 13], openhands: [12, 13] } as const;

/** Installs what a peer requires, pinned and with hashes, into an environment that is made once. Returns the folder of its programs. */
export async function installPeer(name: "langgraph" | "openhands"): Promise<string> {
  const venv = path.join(projectRoot, ".runyard", name);
  const requirements = path.join(import.meta.dirname, `${name}.txt`);
  const python = await findPython(PYTHONS[name]);
  await ensurePythonEnvironment(venv, python, new AbortController().signal, requirements);
  return path.join(venv, "bin");
}

/**
 * Finds a Python of one of these versions: the one that RUNYARD_PYTHON names, one on the PATH, or one that pyenv or uv installed. Programs
 * on the PATH are run, since those of pyenv exist for versions that are not enabled.
 */
async function findPython(minors: readonly number[]): Promise<string> {
  const named = process.env["RUNYARD_PYTHON"];
  const candidates = named === undefined ? ["python3", ...minors.map((minor) => `python3.${minor}`)] : [named];
  const found: string[] = [];
  for (const python of candidates) {
    const version = await readVersion(python);
    if (version !== undefined && minors.includes(version)) return python;
    if (version !== undefined) found.push(`${python} is 3.${version}`);
  }
  const installed = named === undefined ? await listInstalled(minors) : [];
  for (const python of installed) if ((await readVersion(python)) !== undefined) return python;
  const versions = minors.map((minor) => `3.${minor}`).join(" or ");
  throw new Problem(`It needs Python ${versions}: install one, or name it in RUNYARD_PYTHON.`, found);
}

/** The minor version of a Python 3, or undefined if it does not run. */
async function readVersion(python: string): Promise<number | undefined> {
  const program = "import sys, venv; print(sys.version_info.major, sys.version_info.minor)";
  const { code, output } = await runCommand(python, ["-c", program], { timeoutSeconds: 20 });
  const [, minor] = code === 0 ? (/^3 (\d+)\s*$/.exec(output) ?? []) : [];
  return minor === undefined ? undefined : Number(minor);
}

async function listInstalled(minors: readonly number[]): Promise<string[]> {
  const pyenv = process.env["PYENV_ROOT"] ?? path.join(homedir(), ".pyenv");
  const uv = process.env["UV_PYTHON_INSTALL_DIR"] ?? path.join(homedir(), ".local/share/uv/python");
  const patterns = minors.flatMap((minor) => [
    path.join(pyenv, `versions/3.${minor}.*/bin/python3`),
    path.join(uv, `cpython-3.${minor}.*/bin/python3`),
  ]);
  const paths: string[] = [];
  for (const pattern of patterns) for await (const found of glob(pattern)) paths.push(found);
  return paths;
}

/** Waits until a server responds at a URL; false if it ends, or does not respond in time. */
export async function respondsWithin(child: ChildProcess, url: string, milliseconds: number): Promise<boolean> {
  for (const deadline = Date.now() + milliseconds; Date.now() < deadline; await pause(100)) {
    if (child.exitCode !== null || child.pid === undefined) return false;
    const ok = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      async (response) => {
        await response.body?.cancel();
        return response.ok;
      },
      () => false,
    );
    if (ok) return true;
  }
  return false;
}

/** Starts the server of a peer in its own directory. An interruption of the benchmark ends it and removes the directory. */
export function startPeer(program: string, args: readonly string[], folder: string, env: NodeJS.ProcessEnv) {
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => output.push(chunk));
  const end = async (): Promise<void> => {
    await endPeer(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  const cancel = onInterrupt(end);
  return { child, output: () => Buffer.concat(output).toString(), end: () => end().finally(cancel) };
}

async function endPeer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await Promise.race([ended, pause(5_000, undefined, { ref: false })]);
  child.kill("SIGKILL");
}
