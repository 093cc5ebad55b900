import type { CommandResult } from "../commands/command-runner.ts";

/** Converts the result of a command for the conversation. */
export function toCommandOutput(result: CommandResult): Record<string, unknown> {
  return {
    exit_code: result.exitCode,
    stdout: result.text,
    duration_ms: result.durationMs,
    working_directory: result.workingDirectory,
    ...(result.truncated ? { truncated: true } : {}),
    ...(result.file === undefined ? {} : { output_file: result.file }),
    ...(result.signal === undefined ? {} : { signal: result.signal }),
    ...(result.timedOut ? { timed_out: true } : {}),
    ...(result.exceeded === undefined ? {} : { exceeded: result.exceeded }),
  };
}
