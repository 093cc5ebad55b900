import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { projectRoot } from "../../host/paths.ts";
import { ensurePythonEnvironment } from "../../local/python-environment.ts";
import { onInterrupt } from "../interruption.ts";

/** Installs what a peer requires, pinned and with hashes, into an environment that is made once. Returns the folder of its programs. */
export async function installPeer(name: "langgraph" | "openhands"): Promise<string> {
  const venv = path.join(projectRoot, ".runyard", name);
  const requirements = path.join(import.meta.dirname, `${name}.txt`);
  const python = process.env["RUNYARD_PYTHON"] ?? "python3";
  await ensurePythonEnvironment(venv, python, new AbortController().signal, requirements);
  return path.join(venv, "bin");
}

/** Waits until a server answers at a URL; false if it ends, or does not answer in time. */
export async function answersWithin(child: ChildProcess, url: string, milliseconds: number): Promise<boolean> {
  for (const deadline = Date.now() + milliseconds; Date.now() < deadline; await pause(100)) {
    if (child.exitCode !== null || child.pid === undefined) return false;
    const ok = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.ok;
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
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => said.push(chunk));
  const end = async (): Promise<void> => {
    await endPeer(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  const cancel = onInterrupt(end);
  return { child, output: () => Buffer.concat(said).toString(), end: () => end().finally(cancel) };
}

async function endPeer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await Promise.race([ended, pause(5_000, undefined, { ref: false })]);
  child.kill("SIGKILL");
}
