import type { Limits } from "../isolation/limits.ts";
import { FOREGROUND, killTree } from "../isolation/processes.ts";
import { createSandboxWatch, type Watch } from "../isolation/resource-watch.ts";
import type { Sandbox, WorkspacePaths } from "../isolation/sandbox.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { Stop } from "../support/stop.ts";
import { createLauncher, type ExitStatus, toHelperDirectory, waitForExit } from "./command-launcher.ts";
import { type CapturedOutput, createCapture, type OutputLimits } from "./output-capture.ts";
import { createOutputFiles } from "./output-files.ts";

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
  /** Whether it runs at a pseudo-terminal. @default false */
  readonly tty?: boolean | undefined;
  /** Whether it is a script of the harness, which needs the programs of the host where commands have those of an image. @default false */
  readonly isHelper?: boolean;
  /** Receives the complete output, not redacted. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface CommandResult extends CapturedOutput, ExitStatus {
  /** The redacted command. */
  readonly command: string;
  readonly timedOut: boolean;
  /** Why the command was ended, if it exceeded a limit of the machine or the sandbox. `text` ends with it too. */
  readonly exceeded?: string;
  readonly durationMs: number;
  /** The working directory at the end of the command; the next command starts there. */
  readonly workingDirectory: string;
}

/** Runs commands. The process tree of each ends with it. Background commands are others. */
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
  /** Watches all commands of the execution. @default watches those of this runner */
  readonly watch?: Watch | undefined;
}

/** The exit code of timeout(1). */
const TIMED_OUT_CODE = 124;
/** The exit code of a command that SIGPIPE ended. */
const SIGPIPE_CODE = 141;
/** The exit code of a command that SIGKILL ended. */
const KILLED_CODE = 137;
const MIB = 1024 * 1024;

export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  const runner = createRunner(options);
  return options.sandbox.contained ? runner : runInTurn(runner);
}

/** Runs one command after the other: without a boundary, the processes of two commands cannot be told apart. */
function runInTurn(runner: CommandRunner): CommandRunner {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(request) {
      const running = last.then(() => runner.run(request));
      last = running.catch(() => {});
      return running;
    },
  };
}

function createRunner(options: CommandRunnerOptions): CommandRunner {
  const { sandbox, host, executionId, redactor, signal: stop, limits } = options;
  // A sandbox that contains processes ends the whole tree itself, so there is none to search for.
  const marker = sandbox.contained ? undefined : executionId;
  const watch = options.watch ?? createSandboxWatch(sandbox, host);
  const launchCommand = createLauncher(sandbox, host);
  const launchHelper = sandbox.helpers === undefined ? launchCommand : createLauncher(sandbox.helpers, host);
  const outputFiles = createOutputFiles(host.steps, sandbox.paths.steps);
  let count = 0;
  return {
    async run({ command, workingDirectory: wanted, timeoutMs, timeoutReason, isHelper = false, ...request }) {
      const launch = isHelper ? launchHelper : launchCommand;
      const workingDirectory = isHelper ? toHelperDirectory(wanted, sandbox) : wanted;
      const signal = request.signal === undefined ? stop : AbortSignal.any([stop, request.signal]);
      signal.throwIfAborted();
      const files = { script: `step-${++count}.sh`, text: `command-${count}.sh` };
      const child = await launch({ ...files, command, workingDirectory, signal, tty: request.tty });
      const startedAt = performance.now();
      const visibleFiles = request.isShown === true ? outputFiles : undefined;
      const capture = createCapture(redactor, request.limits ?? limits, visibleFiles);
      for (const stream of child.output) {
        stream.on("data", capture.stream());
        if (request.onOutput !== undefined) stream.on("data", request.onOutput);
      }
      let timedOut = false;
      let exceeded: string | undefined;
      const kill = () => killTree(child.process.pid, marker, FOREGROUND);
      const end = () => void kill();
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
        const status = await waitForExit(child, kill);
        // This may show why it ended.
        await unwatch?.();
        signal.throwIfAborted();
        if (sandbox.contained && !child.begin.hasBegun() && exceeded === undefined && !timedOut)
          throw new Stop(
            "unreachable",
            `the isolation boundary (bubblewrap) could not be set up: ${capture.end().text.trim()}`,
          );
        const captured = capture.end();
        const hint = visibleFiles === undefined ? undefined : explain(status, captured, sandbox.limits);
        return {
          command: redactor.text(command),
          ...appendReason(captured, exceeded === undefined ? hint : `the command was ended: ${exceeded}`),
          ...status,
          ...(exceeded === undefined ? {} : { exitCode: KILLED_CODE, exceeded }),
          ...(timedOut ? { exitCode: TIMED_OUT_CODE } : {}),
          timedOut,
          durationMs: Math.round(performance.now() - startedAt),
          workingDirectory: child.begin.directory() ?? workingDirectory,
        };
      } finally {
        clearTimeout(timer);
        void unwatch?.();
        signal.removeEventListener("abort", end);
      }
    },
  };
}

function appendReason(captured: CapturedOutput, why: string | undefined): CapturedOutput {
  if (why === undefined) return captured;
  const { text } = captured;
  const line = text === "" || text.endsWith("\n") ? "" : "\n";
  return { ...captured, text: `${text}${line}[${why}]\n` };
}

/** What programs say where the file system of the run is full. They may end, and remove what they wrote, before anybody can count it. */
const FULL = /no space left on device|disk quota exceeded/i;

/** Explains a failure that the command's own output does not. */
function explain({ exitCode }: ExitStatus, { text }: CapturedOutput, limits: Limits | undefined): string | undefined {
  if (limits !== undefined && FULL.test(text))
    return `where no space is left: the run's files may take ${Math.round(limits.diskBytes / MIB)} MiB, and be ${limits.files} files`;
  return exitCode === SIGPIPE_CODE
    ? "exit code 141 is SIGPIPE: a program of a pipeline wrote to one that had stopped reading, as in `yes | head -n 1`"
    : undefined;
}
