import { spawn } from "node:child_process";
import { Problem } from "../problem.ts";

export interface GitOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Written to standard input. */
  readonly input?: string | Buffer;
}

/** Hooks of the caller or of a template must not run on what a run made. */
const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];

/** Runs git and returns what it printed. @throws Problem with the end of its error output */
export async function runGit(args: readonly string[], options: GitOptions): Promise<string> {
  const { code, stdout, stderr } = await tryGit(args, options);
  if (code === 0) return stdout.trim();
  const lastLines = stderr.trim().split("\n").slice(-5).join("\n");
  throw new Problem(`git ${args[0]} failed${lastLines === "" ? "" : `: ${lastLines}`}`);
}

export function tryGit(
  args: readonly string[],
  { cwd, env, input }: GitOptions,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", [...NO_HOOKS, ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4096)));
    // Git may end without reading all of its input.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    child.on("error", () => reject(new Problem("git could not be started: install it first.")));
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, stderr }));
  });
}

/** Variables that make git send a token to one URL and no other, and never prompt for a password. */
export function tokenVariables(url: string, token: string): Record<string, string> {
  if (!/^https?:\/\//.test(url)) return { GIT_TERMINAL_PROMPT: "0" };
  const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
  return {
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${url}.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
  };
}
