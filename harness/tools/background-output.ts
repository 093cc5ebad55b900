import type { BackgroundCommand } from "../commands/background-command.ts";

/** The tool whose uses show the output of background commands. */
export const READ_COMMAND = { name: "read_command", category: "command" } as const;

/**
 * Reads the new output and the state of a background command, for the model and the conversation.
 * @param keep whether the next call returns the output again
 */
export function readBackground(command: BackgroundCommand, keep = false): Record<string, unknown> {
  const { id, ports, waitsForInput, end } = command;
  const { text, omitted } = command.read(keep);
  const state =
    end === undefined
      ? { state: "running" }
      : {
          state: "ended",
          exit_code: end.exitCode,
          ...(end.signal === undefined ? {} : { signal: end.signal }),
          ...(end.reason === undefined ? {} : { reason: end.reason }),
        };
  return {
    command_id: id,
    ...state,
    stdout: omitted === 0 ? text : `[... ${omitted} characters omitted ...]\n${text}`,
    ...(ports.length === 0 ? {} : { ports }),
    ...(waitsForInput ? { waiting_for_input: true } : {}),
  };
}
