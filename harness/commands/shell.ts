import { posix } from "node:path";
import { findStepEnd, type StepTimes } from "../support/time-slice.ts";
import type { CommandResult, CommandRunner } from "./command-runner.ts";
import type { OutputLimits } from "./output-capture.ts";

export interface RunCommandInput {
  /** Runs in bash with -eo pipefail. */
  readonly command: string;
  /** @default the directory in which the previous command ended */
  readonly workingDirectory?: string;
  /** Never more than the time that the execution has left. @default 600 */
  readonly timeoutSeconds?: number;
  /** Whether it runs at a pseudo-terminal. @default false */
  readonly tty?: boolean;
  /** Receives the output while the command is running; it is not redacted. */
  readonly onOutput?: (chunk: Buffer) => void;
}

/** Runs commands one after the other. Each starts in the directory where the previous one ended, as in a terminal. */
export interface Shell {
  /** Where the next command starts, as commands see it. */
  readonly here: string;
  run(input: RunCommandInput, signal: AbortSignal): Promise<CommandResult>;
  /** @throws an Error for a path that commands of the harness do not see as others do: a relative one begins `here` */
  checkAside(path: string): void;
  /** Runs a command of the harness that does not change the working directory of the next command. */
  runAside(command: string, signal: AbortSignal, limits?: OutputLimits): Promise<CommandResult>;
}

export interface ShellOptions {
  readonly runner: CommandRunner;
  /** As commands see it. */
  readonly workingDirectory: string;
  readonly slice: StepTimes;
  /** The directories that commands of the harness see as others do. @default all */
  readonly shared?: readonly string[] | undefined;
}

/** The time limit of a command that sets none. */
export const DEFAULT_TIMEOUT_SECONDS = 600;
const ASIDE_SECONDS = 60;

export function createShell({ runner, workingDirectory: beginning, slice, shared }: ShellOptions): Shell {
  let here = beginning;
  const limitTime = (seconds: number) => {
    const remainingMs = Math.max(1, findStepEnd(slice) - Date.now());
    if (remainingMs >= seconds * 1000) return { timeoutMs: seconds * 1000 };
    return {
      timeoutMs: remainingMs,
      timeoutReason: `its sandbox had ${(remainingMs / 1000).toFixed(1)} s left for commands when it began`,
    };
  };
  return {
    get here() {
      return here;
    },
    async run({ command, workingDirectory = here, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, ...output }, signal) {
      const times = limitTime(timeoutSeconds);
      const result = await runner.run({ command, workingDirectory, ...times, signal, isShown: true, ...output });
      here = result.workingDirectory;
      return result;
    },
    checkAside(path) {
      const place = posix.resolve(here, path);
      if (shared === undefined || shared.some((root) => `${place}/`.startsWith(`${root}/`))) return;
      throw new Error(`${place} is a path of the run's image, which only commands see: use run_command`);
    },
    runAside(command, signal, limits) {
      const request = { command, workingDirectory: here, ...limitTime(ASIDE_SECONDS), signal, isHelper: true };
      return runner.run(limits === undefined ? request : { ...request, limits });
    },
  };
}
