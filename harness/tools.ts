import { randomUUID } from "node:crypto";
import type { CommandResult, CommandRunner } from "./commands.ts";
import type { AgentTools } from "./engine.ts";
import type { Outbox } from "./outbox.ts";
import { cutBytes, wellFormed } from "./output.ts";
import type { Redactor } from "./redact.ts";
import type { Slice } from "./slice.ts";
import { Interrupted } from "./stop.ts";

export interface ToolOptions {
  readonly runner: CommandRunner;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  /** As commands see it. */
  readonly workingDirectory: string;
  readonly slice: Slice;
  /** Aborted when the turn under way is broken off. */
  readonly turn: () => AbortSignal;
}

const DEFAULT_TIMEOUT_SECONDS = 600;
/** A command is shown up to here; a longer one is run whole. */
const SHOWN_BYTES = 32 * 1024;

/** The tools of an agent. The conversation shows each command when it starts and its result when it has ended. */
export function createTools({ runner, outbox, redactor, slice, turn, ...options }: ToolOptions): AgentTools {
  let here = options.workingDirectory;
  return {
    async runCommand({ command, workingDirectory = here, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }) {
      slice.beforeStep();
      const action = { id: randomUUID(), category: "command", name: "run_command" } as const;
      const asked = { working_directory: workingDirectory, timeout_seconds: timeoutSeconds };
      const input = { command: shown(redactor.text(command)), ...asked };
      const timeoutMs = Math.max(1, Math.min(timeoutSeconds * 1000, slice.deadlineAt - Date.now()));
      const signal = turn();
      const running = runner.run({ command, workingDirectory, timeoutMs, signal });
      outbox.message({ role: "assistant", content: [{ type: "action", ...action, input }] });
      const { id, ...kind } = action;
      const tell = (state: "completed" | "failed", output: Record<string, unknown>) =>
        outbox.message({ role: "tool", content: [{ type: "action_result", action_id: id, ...kind, state, output }] });
      try {
        const result = await running;
        here = result.workingDirectory;
        tell(result.exitCode === 0 ? "completed" : "failed", outputOf(result));
        slice.afterStep();
        return result;
      } catch (error) {
        if (error instanceof Interrupted) tell("failed", { interrupted: true });
        throw error;
      }
    },
  };
}

function outputOf(result: CommandResult): Record<string, unknown> {
  return {
    exit_code: result.exitCode,
    stdout: result.text,
    duration_ms: result.durationMs,
    working_directory: result.workingDirectory,
    ...(result.truncated ? { truncated: true } : {}),
    ...(result.signal === undefined ? {} : { signal: result.signal }),
    ...(result.timedOut ? { timed_out: true } : {}),
  };
}

function shown(command: string): string {
  const start = cutBytes(wellFormed(command), SHOWN_BYTES);
  return start.length < command.length ? `${start}\n[... cut; the command was run whole ...]` : start;
}
