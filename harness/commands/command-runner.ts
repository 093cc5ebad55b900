import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Launched, startLaunch } from "../isolation/launch.ts";
import { formatUlimits, preferForOomKill } from "../isolation/limits.ts";
import { createPipes } from "../isolation/pipes.ts";
import { killTree } from "../isolation/processes.ts";
import { createWatch } from "../isolation/resource-watch.ts";
import type { Sandbox, WorkspacePaths } from "../isolation/sandbox.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { Stop } from "../support/stop.ts";
import { type CapturedOutput, createCapture, type OutputLimits } from "./output-capture.ts";
import { createOutputFiles } from "./output-files.ts";
import { quoteForShell } from "./shell-quote.ts";

export interface CommandRequest {
  readonly command: string;
  /** As commands see it. */
  readonly workingDirectory: string;
  readonly timeoutMs: number;
  /** Added to the result of a command that timed out, if the limit was not the command's own. */
  readonly timeoutReason?: string;
  /** Ends this command only. */
  readonly signal?: AbortSignal;
  /** How much of its output is captured. @default the runner's own limits */
  readonly limits?: OutputLimits;
  /** Whether people and models read its output: as a terminal shows it, and in a file if it is long. @default false */
  readonly isShown?: boolean;
  /** Receives the complete output, not redacted. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface CommandResult extends CapturedOutput {
  /** The redacted command. */
  readonly command: string;
  /** As a shell reports it: 128 and the signal's number for a command that a signal ended. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  /** Why the command was ended, if it exceeded a limit of the machine or the sandbox. `text` ends with it too. */
  readonly exceeded?: string;
  readonly durationMs: number;
  /** The working directory at the end of the command; the next command starts there. */
  readonly workingDirectory: string;
}

/** Runs commands one after the other. The process tree of each ends with it. */
export interface CommandRunner {
  /** @throws the signal's reason when the execution stops; no process of the command is left then */
  run(request: CommandRequest): Promise<CommandResult>;
}

export interface CommandRunnerOptions {
  readonly sandbox: Sandbox;
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  readonly executionId: string;
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
  readonly limits?: OutputLimits;
}

/** How long the output of a command may stay open after it. */
const CLOSE_MS = 1_000;
/** The end of what a command reports, with its working directory. */
const REPORT_CHARACTERS = 8_192;
/** The exit code of timeout(1). */
const TIMED_OUT_CODE = 124;
/** The exit code of a command that SIGPIPE ended. */
const SIGPIPE_CODE = 141;
/** The exit code of a command that SIGKILL ended. */
const KILLED_CODE = 137;

export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  const { sandbox, host, executionId, redactor, signal: stop, limits } = options;
  // A sandbox that contains processes ends the whole tree itself, so there is none to search for.
  const marker = sandbox.contained ? undefined : executionId;
  const { limits: machine } = sandbox;
  const watch = machine === undefined ? undefined : createWatch({ limits: machine, folder: dirname(host.workspace) });
  const before = machine === undefined ? "" : formatUlimits(machine);
  const pipes = createPipes(dirname(host.workspace));
  const outputFiles = createOutputFiles(host.steps, sandbox.paths.steps);
  let count = 0;
  return {
    async run({ command, workingDirectory, timeoutMs, timeoutReason, ...request }) {
      const signal = request.signal === undefined ? stop : AbortSignal.any([stop, request.signal]);
      signal.throwIfAborted();
      const [script, text] = [`step-${++count}.sh`, `command-${count}.sh`];
      const program = buildScript(`${sandbox.paths.steps}/${text}`, workingDirectory, before);
      await Promise.all([
        // Bash ignores a few NUL characters, and the rest of a text with many.
        writeFile(`${host.steps}/${text}`, command.replaceAll("\0", ""), { mode: 0o444 }),
        writeFile(`${host.steps}/${script}`, program, { mode: 0o444 }),
      ]);
      const pipe = await pipes.open();
      if (signal.aborted) pipe?.close();
      signal.throwIfAborted();
      const startedAt = performance.now();
      const child = startLaunch(sandbox.launch(script), { output: pipe });
      if (machine !== undefined) preferForOomKill(child.process.pid);
      const shown = request.isShown === true ? outputFiles : undefined;
      const capture = createCapture(redactor, request.limits ?? limits, shown);
      for (const stream of child.output) {
        stream.on("data", capture.stream());
        if (request.onOutput !== undefined) stream.on("data", request.onOutput);
      }
      const report = watchReport(child.report);
      let timedOut = false;
      let exceeded: string | undefined;
      const end = () => void killTree(child.process.pid, marker);
      const unwatch = watch?.command(child.process.pid ?? 0, (why) => {
        exceeded = why;
        end();
      });
      const timer = setTimeout(() => {
        timedOut = true;
        exceeded ??= timeoutReason;
        end();
      }, timeoutMs);
      signal.addEventListener("abort", end);
      try {
        const status = await waitForExit(child, marker);
        signal.throwIfAborted();
        if (sandbox.contained && !report.hasBegun() && exceeded === undefined && !timedOut)
          throw new Stop(
            "unreachable",
            `the isolation boundary (bubblewrap) could not be set up: ${capture.end().text.trim()}`,
          );
        return {
          command: redactor.text(command),
          ...appendReason(capture.end(), explain(exceeded, shown === undefined ? 0 : status.exitCode)),
          ...status,
          ...(exceeded === undefined ? {} : { exitCode: KILLED_CODE, exceeded }),
          ...(timedOut ? { exitCode: TIMED_OUT_CODE } : {}),
          timedOut,
          durationMs: Math.round(performance.now() - startedAt),
          workingDirectory: report.directory() ?? workingDirectory,
        };
      } finally {
        clearTimeout(timer);
        unwatch?.();
        signal.removeEventListener("abort", end);
      }
    },
  };
}

/**
 * Builds the program that runs a command's text, which is a file of its own: no text can change how the program is read. The program is one
 * line, because bash would read further lines with the options of the text. It reports that it has begun, which shows that its boundary
 * was set up, and at the end the working directory. Reports go to descriptor 3, because commands could replace a file by a link. A text
 * that exits ends the program too, so a trap reports the directory; a text that replaces the trap is reported by the last part.
 */
function buildScript(text: string, workingDirectory: string, before: string): string {
  const enter = `builtin cd -- ${quoteForShell(workingDirectory)}`;
  const report = "builtin pwd -P >&3";
  const end = `{ __runyard=$?; builtin set +e; builtin trap - DEBUG ERR RETURN; ${report}; (builtin exit "$__runyard"); } >/dev/null 2>&1`;
  const source = `BASH_ARGV0=${quoteForShell(text)}; . ${quoteForShell(text)}`;
  return `exec 2>&1; builtin echo >&3; ${before}${enter}; trap '{ ${report}; } 2>/dev/null || :' EXIT; ${source}; ${end}\n`;
}

function appendReason(captured: CapturedOutput, why: string | undefined): CapturedOutput {
  if (why === undefined) return captured;
  const { text } = captured;
  const line = text === "" || text.endsWith("\n") ? "" : "\n";
  return { ...captured, text: `${text}${line}[${why}]\n` };
}

/** Explains why a command was ended, or an exit code that looks like a failure and often is none. */
function explain(exceeded: string | undefined, exitCode: number): string | undefined {
  if (exceeded !== undefined) return `the command was ended: ${exceeded}`;
  return exitCode === SIGPIPE_CODE
    ? "exit code 141 is SIGPIPE: a program of a pipeline wrote to one that had stopped reading, as in `yes | head -n 1`"
    : undefined;
}

async function waitForExit(
  { process: child, output }: Launched,
  marker: string | undefined,
): Promise<{ exitCode: number; signal?: string }> {
  const streams = [...child.stdio, ...output].filter((stream) => stream !== null && stream !== undefined);
  const closed = Promise.all([once(child, "close"), ...output.map((stream) => once(stream, "close"))]).catch(() => {});
  const [code, signal] = await once(child, "exit");
  // Background processes end with the command; otherwise they would hold the pipes open and outlive the run.
  await killTree(child.pid, marker);
  await Promise.race([closed, sleep(CLOSE_MS)]);
  for (const stream of streams) stream.destroy();
  if (typeof code === "number") return { exitCode: code };
  return { exitCode: 128 + findSignalNumber(signal), signal: String(signal) };
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
