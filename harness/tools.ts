import { randomUUID } from "node:crypto";
import type { CommandResult, CommandRunner } from "./commands.ts";
import type { AgentTools } from "./engine.ts";
import type { Outbox } from "./outbox.ts";
import { cutBytes, wellFormed } from "./output.ts";
import type { Redactor } from "./redact.ts";

export interface ToolOptions {
  readonly runner: CommandRunner;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  /** As commands see it. */
  readonly workingDirectory: string;
  /** Milliseconds since the epoch at which no command may run any more. */
  readonly deadlineAt: number;
}

const DEFAULT_TIMEOUT_SECONDS = 600;
/** A command is shown up to here; a longer one is run whole. */
const SHOWN_BYTES = 32 * 1024;

/** The tools of an agent. The conversation shows each command when it starts and its result when it has ended. */
export function createTools({ runner, outbox, redactor, deadlineAt, ...options }: ToolOptions): AgentTools {
  let here = options.workingDirectory;
  return {
    async runCommand({ command, workingDirectory = here, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }) {
      const action = { id: randomUUID(), category: "command", name: "run_command" } as const;
      const asked = { working_directory: workingDirectory, timeout_seconds: timeoutSeconds };
      const input = { command: shown(redactor.text(command)), ...asked };
      const timeoutMs = Math.max(1, Math.min(timeoutSeconds * 1000, deadlineAt - Date.now()));
      const running = runner.run({ command, workingDirectory, timeoutMs });
      outbox.message({ role: "assistant", content: [{ type: "action", ...action, input }] });
      const result = await running;
      here = result.workingDirectory;
      const { id, ...kind } = action;
      const state = result.exitCode === 0 ? "completed" : "failed";
      outbox.message({
        role: "tool",
        content: [{ type: "action_result", action_id: id, ...kind, state, output: outputOf(result) }],
      });
      return result;
    },
  };
}

function outputOf(result: CommandResult): Record<string, unknown> {
  return {
    exit_code: result.exitCode,
    stdout: result.text,
    duration_ms: result.durationMs,
    ...(result.truncated ? { truncated: true } : {}),
    ...(result.signal === undefined ? {} : { signal: result.signal }),
    ...(result.timedOut ? { timed_out: true } : {}),
  };
}

function shown(command: string): string {
  const start = cutBytes(wellFormed(command), SHOWN_BYTES);
  return start.length < command.length ? `${start}\n[... cut; the command was run whole ...]` : start;
}
