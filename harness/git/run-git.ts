import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cutBytes } from "../support/text-limits.ts";

/** Where and how long git processes run. */
export interface GitOptions {
  /** Host path of the directory in which git starts. */
  readonly workspace: string;
  /** Host path of a directory that commands cannot write. */
  readonly etc: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Throws for a host that the run may not call. @default it may call every host */
  readonly checkHost?: (host: string) => void;
  /** The proxy of a run whose network is limited. @default that of this machine, if it has one */
  readonly proxyUrl?: string | undefined;
  /** A program and its arguments that start git. @default git is started directly */
  readonly confine?: readonly string[];
}

/** What a git process printed, and whether it succeeded. */
export interface GitResult {
  readonly ok: boolean;
  /** The end of everything that it printed, for messages. */
  readonly text: string;
  /** The beginning of its standard output, for programs. */
  readonly output: string;
}

/** Runs git with these arguments. */
export type Git = (...args: string[]) => Promise<GitResult>;

/** Writes the configuration that git uses instead of those of the user and the system. */
export async function writeGitConfig(etc: string): Promise<void> {
  const lines = [
    "[safe]\n\tdirectory = *",
    "[core]\n\thooksPath = /dev/null\n\tfsmonitor = false",
    "[protocol]\n\tallow = never",
    ...["https", "ssh", "file"].map((name) => `[protocol "${name}"]\n\tallow = always`),
    "[advice]\n\tdetachedHead = false",
    "[gc]\n\tauto = 0",
  ];
  await writeFile(join(etc, "gitconfig"), `${lines.join("\n")}\n`);
}

/** The end of git's output that is read for an error, and the part of it that the error shows. */
const OUTPUT_CHARACTERS = 4_096;
const MESSAGE_LINES = 5;
const MESSAGE_BYTES = 600;

/** The part of git's standard output that is read for a program. */
const RESULT_CHARACTERS = 1_048_576;

/** Runs git with these arguments and additional environment variables, until its time limit. */
export async function runGit(
  args: readonly string[],
  options: GitOptions,
  variables: Readonly<Record<string, string>>,
): Promise<GitResult> {
  const { promise, resolve } = Promise.withResolvers<GitResult>();
  const [file = "git", ...rest] = [...(options.confine ?? []), "git", ...args];
  const child = spawn(file, rest, {
    cwd: options.workspace,
    env: { ...buildGitEnvironment(options.etc, options.proxyUrl), ...variables },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  let output = "";
  let late = false;
  const kill = () => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, options.timeoutMs);
  options.signal.addEventListener("abort", kill);
  const keep = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-OUTPUT_CHARACTERS);
  };
  child.stdout.on("data", (chunk: Buffer) => {
    keep(chunk);
    if (output.length < RESULT_CHARACTERS) output += chunk.toString();
  });
  child.stderr.on("data", keep);
  child.on("error", (error) => resolve({ ok: false, output, text: `git could not be started: ${error.message}` }));
  child.on("close", (code) => {
    const limit = `git did not end within ${Math.round(options.timeoutMs / 1000)} s`;
    resolve({ ok: code === 0, output, text: late ? limit : takeLastLines(text) });
  });
  const result = await promise;
  clearTimeout(timer);
  options.signal.removeEventListener("abort", kill);
  options.signal.throwIfAborted();
  return result;
}

/** Proxy and certificate settings describe the host's network and are not secret. Git needs them behind a proxy. */
const NETWORK_SETTINGS = [
  "HTTPS_PROXY",
  "https_proxy",
  "NO_PROXY",
  "no_proxy",
  "GIT_SSL_CAINFO",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

/**
 * Builds the complete environment of git processes.
 * @param proxyUrl replaces the proxy of this machine
 */
export function buildGitEnvironment(etc: string, proxyUrl?: string): Record<string, string> {
  const settings = NETWORK_SETTINGS.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || (proxyUrl !== undefined && /proxy/i.test(name)) ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(settings),
    ...(proxyUrl === undefined ? {} : { HTTPS_PROXY: proxyUrl, HTTP_PROXY: proxyUrl }),
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: etc,
    LANG: "C.UTF-8",
    GIT_CONFIG_GLOBAL: join(etc, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new -oConnectTimeout=20",
    GIT_LFS_SKIP_SMUDGE: "1",
  };
}

/** Takes the end of git's output, for a message. */
export const takeLastLines = (text: string): string =>
  cutBytes(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .slice(-MESSAGE_LINES)
      .join(" "),
    MESSAGE_BYTES,
  );
