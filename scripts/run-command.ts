import { spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

export const root = dirname(import.meta.dirname);

export interface CommandResult {
  /** null where the command did not start, was killed or took too long. */
  exitCode: number | null;
  output: string;
  seconds: number;
}

export interface CommandOptions {
  /** Prints the output immediately instead of collecting it. Default: false. */
  show?: boolean;
  /** After this time the command and all that it started are killed. Default: 300. */
  timeoutSeconds?: number;
  /** Default: the repository's root. */
  cwd?: string;
  /** Variables in addition to those of this process. */
  env?: Readonly<Record<string, string>>;
}

export interface ToolOptions extends CommandOptions {
  /** A module of this repository that Node loads before the tool. */
  preload?: string;
}

/** Runs a tool of node_modules/.bin by this very Node, from the repository's root, without standard input. */
export function runTool(name: string, args: readonly string[], options: ToolOptions = {}): Promise<CommandResult> {
  const preload = options.preload === undefined ? [] : ["--import", pathToFileURL(join(root, options.preload)).href];
  return runCommand(process.execPath, [...preload, join(root, "node_modules", ".bin", name), ...args], options);
}

/** Never rejects: a command that cannot start is a result without an exit code, with the reason as its output. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const startedAt = performance.now();
  const stream = options.show ? "inherit" : "pipe";
  const child = spawn(command, args, {
    cwd: options.cwd ?? root,
    stdio: ["ignore", stream, stream],
    env: { ...environment(), ...options.env },
  });
  const chunks: string[] = [];
  const collect = (chunk: Buffer) => {
    chunks.push(chunk.toString("utf8"));
  };
  child.stdout?.on("data", collect);
  child.stderr?.on("data", collect);

  return new Promise((resolve) => {
    const timeoutSeconds = options.timeoutSeconds ?? 300;
    const timer = setTimeout(() => {
      chunks.push(`\nstopped after ${timeoutSeconds} s\n`);
      child.kill("SIGKILL");
    }, timeoutSeconds * 1000);
    const finish = (exitCode: number | null) => {
      clearTimeout(timer);
      resolve({ exitCode, output: chunks.join("").trim(), seconds: (performance.now() - startedAt) / 1000 });
    };
    child.on("error", (error) => {
      chunks.push(error.message);
      finish(null);
    });
    child.on("close", finish);
  });
}

/** Tools start `node` and each other by name, so this Node and the local tools come first. */
function environment(): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), join(root, "node_modules", ".bin"), process.env["PATH"] ?? ""];
  return { ...process.env, PATH: path.join(delimiter) };
}
