import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import path from "node:path";

export interface CommandResult {
  /** Exit code; -1 when a signal ended it or it could not be started. */
  code: number;
  /** Standard output and standard error as they came. */
  output: string;
}

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  timeoutSeconds?: number;
  signal?: AbortSignal;
}

/** Runs a program without a shell and collects its output. */
export function runCommand(program: string, args: string[], options: CommandOptions = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.signal ? { signal: options.signal } : {}),
    });
    // Node's own time limit outlives a program that could not be started, and keeps this one from ending.
    const timer = setTimeout(() => child.kill(), (options.timeoutSeconds ?? 600) * 1000);
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    const finish = (code: number): void => {
      clearTimeout(timer);
      resolve({ code, output: Buffer.concat(chunks).toString("utf8") });
    };
    child.on("error", (error) => {
      chunks.push(Buffer.from(`${error.message}\n`));
      finish(-1);
    });
    child.on("close", (code) => finish(code ?? -1));
  });
}

/** The first executable of that name on a PATH. */
export async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  const candidates = name.includes("/")
    ? [name]
    : searchPath.split(path.delimiter).map((folder) => path.join(folder || ".", name));
  for (const candidate of candidates) {
    const usable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return candidate;
  }
  return undefined;
}

export function lastLines(text: string, count: number): string[] {
  return text.trimEnd().split("\n").slice(-count);
}
