import type { RunState } from "../../clients/typescript/src/index.ts";

/** The exit codes of commands, documented in docs/cli.md. */
export const EXIT = {
  ok: 0,
  /** The run that was followed ended FAILED or ERROR, or the command could not do its work. */
  failed: 1,
  /** The command line is wrong, or no service is configured; nothing was sent. */
  usage: 2,
  /** The run has a question, and waits for `runyard runs followup`. */
  blocked: 3,
  /** The service refused the request, or could not be reached. */
  service: 4,
  /** The run was cancelled, or the following of it was interrupted. */
  cancelled: 130,
  /** The reader of the output closed it: 128 and the number of SIGPIPE, as of other programs. */
  outputClosed: 141,
} as const;

/** The exit code for the final state of a run. */
export function toExitCode(state: RunState): number {
  switch (state) {
    case "SUCCEEDED":
      return EXIT.ok;
    case "BLOCKED":
      return EXIT.blocked;
    case "CANCELLED":
      return EXIT.cancelled;
    default:
      return EXIT.failed;
  }
}
