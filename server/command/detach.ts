import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { complain, say } from "../host/terminal.ts";

const READY = "ready";

/** Whether this process was started by `startDetached`. */
export const isDetached = (): boolean => process.send !== undefined;

/** Reports to the process that started this one that it serves, and disconnects from that process. */
export function reportReady(): void {
  process.send?.(READY, undefined, undefined, () => process.disconnect?.());
}

/**
 * Starts `serve` as a process of its own that outlives the terminal, and waits until it serves. Its output goes to `consoleLog`
 * and, until then, to this terminal. Resolves with false if it ended instead.
 */
export async function startDetached(args: readonly string[], consoleLog: string, stop: AbortSignal): Promise<boolean> {
  mkdirSync(path.dirname(consoleLog), { recursive: true, mode: 0o700 });
  const output = openSync(consoleLog, "w", 0o600);
  // npm's variables would make it end with npm.
  const { npm_lifecycle_event: _, ...environment } = process.env;
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", "serve", ...args], {
    detached: true,
    stdio: ["ignore", output, output, "ipc"],
    env: environment,
  });
  closeSync(output);
  const end = (): void => void child.kill();
  stop.addEventListener("abort", end);
  const isReady = await new Promise<boolean>((resolve) => {
    child.once("message", () => resolve(true));
    child.once("error", () => resolve(false));
    child.once("exit", () => resolve(false));
  });
  stop.removeEventListener("abort", end);
  const printed = readFileSync(consoleLog, "utf8").trimEnd();
  (isReady ? say : complain)(printed);
  if (child.connected) child.disconnect();
  child.unref();
  return isReady;
}
