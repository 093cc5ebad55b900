import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { EmulatorAccess } from "../../emulator/emulator-access.ts";
import { LocalFile } from "../../emulator/local-file.ts";
import type { Api } from "../../server/host/api.ts";
import { lastLines } from "../../server/host/commands.ts";
import { readJson } from "../../server/host/files.ts";
import { projectRoot } from "../../server/host/paths.ts";
import { firstFreePort } from "../../server/host/ports.ts";
import { Problem } from "../../server/host/terminal.ts";
import { onInterrupt } from "./interruption.ts";

export interface BenchCloud {
  readonly api: Api;
  readonly emulator: EmulatorAccess;
  readonly pid: number;
  /** Its state directory. */
  readonly home: string;
  stop(): Promise<void>;
}

const START_MS = 300_000;
const STOP_MS = 30_000;

/**
 * A local cloud for the benchmark only, with its own state and port, which are removed afterwards. `args`: of `npm run emulator`.
 */
export async function startCloud(args: readonly string[] = []): Promise<BenchCloud> {
  const state = await mkdtemp(path.join(tmpdir(), "runyard-bench-"));
  const port = await firstFreePort(4700);
  const child = spawn(
    process.execPath,
    [path.join(projectRoot, "emulator/start.ts"), "--port", String(port), ...args],
    {
      cwd: projectRoot,
      env: { ...process.env, RUNYARD_STATE: state },
      stdio: ["ignore", "pipe", "pipe"],
      // Ctrl-C reaches the benchmark alone, which then takes the cloud down.
      detached: true,
    },
  );
  const end = async (): Promise<void> => {
    await endCloud(child);
    await rm(state, { recursive: true, force: true, maxRetries: 3 });
  };
  const cancel = onInterrupt(end);
  const stop = () => end().finally(cancel);
  try {
    await untilReady(child);
    const local = await readJson(path.join(state, "local.json"), LocalFile);
    if (local === undefined || child.pid === undefined) throw new Problem("The local cloud left no address.");
    const api = { baseUrl: local.base_url, key: local.api_key };
    const emulator = { endpoint: local.emulator_url, secretKey: local.emulator_key };
    return { api, emulator, pid: child.pid, home: state, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits until a service says that it is ready. */
export function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    const fail = (why: string) => reject(new Problem(`The service ${why}.`, lastLines(text, 20)));
    const timer = setTimeout(() => fail("did not start in time"), START_MS);
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      if (!text.includes("Ctrl-C stops it.")) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
}

/** Ends a service as Ctrl-C does. */
export async function endCloud(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGINT");
  await Promise.race([ended, pause(STOP_MS, undefined, { ref: false })]);
  child.kill("SIGKILL");
}
