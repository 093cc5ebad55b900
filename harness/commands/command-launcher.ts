import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Launched, startLaunch } from "../isolation/launch.ts";
import { formatUlimits, putBehindHarness } from "../isolation/limits.ts";
import { createPipes } from "../isolation/pipes.ts";
import type { Sandbox, WorkspacePaths } from "../isolation/sandbox.ts";
import { quoteForShell } from "./shell-quote.ts";

/** What is started, and the names of its files in the directory of the scripts. */
interface LaunchRequest {
  readonly script: string;
  /** The file of the command's text, which the command's own messages name. */
  readonly text: string;
  readonly command: string;
  /** As commands see it. */
  readonly workingDirectory: string;
  readonly signal: AbortSignal;
  /** @default "ignore" */
  readonly stdin?: "ignore" | "pipe";
  /** Environment variables that identify its processes on this machine, besides those of the execution. */
  readonly marker?: Readonly<Record<string, string>>;
  /** Whether it runs at a pseudo-terminal. @default false */
  readonly tty?: boolean | undefined;
}

/** The directories of a run, in which scripts of the harness can start. */
const isOfRun = (directory: string, { workspace, home, tmp }: WorkspacePaths): boolean =>
  [workspace, home, tmp].some((root) => `${directory}/`.startsWith(`${root}/`));

/** Where scripts of the harness start. Other directories may be those of an image. */
export const toHelperDirectory = (directory: string, { helpers, paths }: Sandbox): string =>
  helpers === undefined || isOfRun(directory, paths) ? directory : paths.workspace;

/** A command that has been started. */
export interface LaunchedCommand extends Launched {
  readonly begin: {
    /** Whether the command has begun, which shows that its boundary was set up. */
    readonly hasBegun: () => boolean;
    /** Where the command ended. */
    readonly directory: () => string | undefined;
  };
}

/** How a command ended, as a shell reports it: 128 and the signal's number for a command that a signal ended. */
export interface ExitStatus {
  readonly exitCode: number;
  readonly signal?: string;
}

/** How long the output of a command may stay open after it. */
export const CLOSE_MS = 1_000;
/** The end of what a command reports, with its working directory. */
const REPORT_CHARACTERS = 8_192;

/** Returns a function that starts a command in its sandbox and does not wait for it. */
export function createLauncher(sandbox: Sandbox, host: WorkspacePaths) {
  const { limits } = sandbox;
  const before = limits === undefined ? "" : formatUlimits(limits);
  const pipes = createPipes(dirname(host.workspace));
  const write = (name: string, content: string) => writeFile(`${host.steps}/${name}`, content, { mode: 0o444 });
  return async ({ script, text, signal, ...request }: LaunchRequest): Promise<LaunchedCommand> => {
    const { tty = false, workingDirectory } = request;
    // Few commands need a terminal.
    const terminal = tty ? await import("./pseudo-terminal.ts") : undefined;
    const setup = terminal === undefined ? before : `${before}${terminal.TERMINAL_SETUP}`;
    const build = sandbox.shell === "bash" ? buildScript : buildPosixScript;
    const program = build(`${sandbox.paths.steps}/${text}`, workingDirectory, setup);
    const inner = terminal === undefined ? script : `terminal-${script}`;
    await Promise.all([
      // Bash ignores a few NUL characters, and the rest of a text with many.
      write(text, request.command.replaceAll("\0", "")),
      write(inner, program),
      terminal && write(script, terminal.buildTerminalProgram(`${sandbox.paths.steps}/${inner}`, sandbox.shell)),
    ]);
    const pipe = await pipes.open();
    if (signal.aborted) pipe?.close();
    signal.throwIfAborted();
    const launch = sandbox.launch(script);
    const env = { ...launch.env, ...request.marker };
    const launched = startLaunch({ ...launch, env }, { output: pipe, stdin: request.stdin ?? "ignore" });
    if (limits !== undefined) putBehindHarness(launched.process.pid);
    return { ...launched, begin: watchReport(launched.report) };
  };
}

/**
 * Waits for the end of a command, and ends what it left behind.
 * @param kill ends all processes of the command
 */
export async function waitForExit(
  { process: child, output }: Launched,
  kill: () => Promise<void>,
): Promise<ExitStatus> {
  const streams = [...child.stdio, ...output].filter((stream) => stream !== null && stream !== undefined);
  const closed = Promise.all([once(child, "close"), ...output.map((stream) => once(stream, "close"))]).catch(() => {});
  const [code, signal] = await once(child, "exit");
  // Background processes end with the command; otherwise they would hold the pipes open and outlive the run.
  await kill();
  await Promise.race([closed, sleep(CLOSE_MS)]);
  for (const stream of streams) stream.destroy();
  if (typeof code === "number") return { exitCode: code };
  return { exitCode: 128 + findSignalNumber(signal), signal: String(signal) };
}

/**
 * Builds the program that runs a command's text, which is a file of its own: no text can change how the program is read. The program is one
 * line, because bash would read further lines with the options of the text. It reports that it has begun, which shows that its boundary
 * was set up, and at the end the working directory. Reports go to descriptor 3, because commands could replace a file by a link. A text
 * that exits ends the program too, so a trap reports the directory; a text that replaces the trap is reported by the last part. Neither
 * has output, since a trap of the text may print each command.
 */
function buildScript(text: string, workingDirectory: string, before: string): string {
  const enter = `builtin cd -- ${quoteForShell(workingDirectory)}`;
  const report = "builtin pwd -P >&3";
  const end = `{ __runyard=$?; builtin set +e; builtin trap - DEBUG ERR RETURN; ${report}; (builtin exit "$__runyard"); } >/dev/null 2>&1`;
  const source = `BASH_ARGV0=${quoteForShell(text)}; . ${quoteForShell(text)}`;
  return `exec 2>&1; builtin echo >&3; ${before}${enter}; trap '{ ${report} || :; } >/dev/null 2>&1' EXIT; ${source}; ${end}\n`;
}

/** Builds the same program for a shell without the additions of bash. Not all of them know pipefail. */
function buildPosixScript(text: string, workingDirectory: string, before: string): string {
  const report = "pwd -P >&3";
  const end = `{ __runyard=$?; set +e; ${report}; (exit "$__runyard"); } >/dev/null 2>&1`;
  const pipefail = "if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi";
  const enter = `cd -- ${quoteForShell(workingDirectory)}`;
  return `exec 2>&1; echo >&3; ${before}${pipefail}; ${enter}; trap '{ ${report} || :; } >/dev/null 2>&1' EXIT; . ${quoteForShell(text)}; ${end}\n`;
}

function findSignalNumber(signal: unknown): number {
  return Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
}

function watchReport(stream: Readable | undefined) {
  let text = "";
  stream?.on("data", (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-REPORT_CHARACTERS);
  });
  return {
    hasBegun: () => text !== "",
    /** Where the command ended. */
    directory: () => text.split("\n").findLast((line) => line.startsWith("/")),
  };
}
