import * as v from "valibot";
import type { BackgroundCommands } from "../commands/background-commands.ts";
import { createLineMatcher } from "../commands/recent-output.ts";
import { defineTool, type Tool } from "../engine/tool.ts";
import { findStepEnd, type StepTimes } from "../support/time-slice.ts";
import { READ_COMMAND, readBackground } from "./background-output.ts";

/** How long `read_command` waits for a line or a port, if its input does not say. */
const WAIT_SECONDS = 60;
const MAX_SECONDS = 3_600;
/** How long a command that is stopped may take to end by itself. */
const STOP_MS = 3_000;
const MAX_WAIT_FOR = 1_000;
const MAX_INPUT = 64 * 1024;

const CommandId = v.pipe(v.string(), v.description("The `command_id` that run_command returned."));

/** Creates the tools for commands that run in the background. */
export const createBackgroundTools = (background: BackgroundCommands, slice: StepTimes): Tool[] => [
  createReadTool(background, slice),
  createWriteTool(background),
  createStopTool(background),
];

const createReadTool = (background: BackgroundCommands, slice: StepTimes): Tool =>
  defineTool({
    ...READ_COMMAND,
    description:
      "Returns the output of a background command since the last read_command (the last 16 KB of it), its state, and the ports on which it " +
      "listens. With `wait_for` or `port` it waits first; `matched` says whether that came. It returns earlier when the command ends, or is " +
      "blocked until it gets input (`waiting_for_input`): answer with write_command.",
    readsOnly: false,
    input: v.object({
      command_id: CommandId,
      wait_for: v.optional(
        v.pipe(
          v.string(),
          v.nonEmpty(),
          v.maxLength(MAX_WAIT_FOR),
          v.description("Wait for a line of the unread output that contains this text; * stands for any characters."),
        ),
      ),
      port: v.optional(
        v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(65_535),
          v.description("Wait until the command listens on this TCP port."),
        ),
      ),
      timeout_seconds: v.optional(
        v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(MAX_SECONDS),
          v.description("The longest wait. Default: 60. Without wait_for and port, waits this long for any output."),
        ),
      ),
    }),
    async run({ command_id, wait_for, port, timeout_seconds }, { signal, onOutput }) {
      const command = background.find(command_id);
      const isLine = wait_for === undefined ? undefined : createLineMatcher(wait_for);
      const isWaiting = isLine !== undefined || port !== undefined;
      const condition = () =>
        isWaiting
          ? (isLine === undefined || command.hasLine(isLine)) && (port === undefined || command.ports.includes(port))
          : command.hasNews;
      const seconds = timeout_seconds ?? (isWaiting ? WAIT_SECONDS : 0);
      const timeoutMs = Math.max(0, Math.min(seconds * 1000, findStepEnd(slice) - Date.now()));
      const matched = await command.waitFor(condition, { timeoutMs, signal, onOutput });
      const output = { ...readBackground(command), ...(isWaiting ? { matched } : {}) };
      return { output, isError: isWaiting && !matched };
    },
  });

const createWriteTool = (background: BackgroundCommands): Tool =>
  defineTool({
    name: "write_command",
    description:
      "Sends input to a background command. A line needs \\n at its end. Read the reaction with read_command. With `end`, the command's " +
      "input ends after the text.",
    category: "command",
    readsOnly: false,
    input: v.object({
      command_id: CommandId,
      text: v.optional(v.pipe(v.string(), v.maxLength(MAX_INPUT), v.description("The input, as it is sent."))),
      end: v.optional(v.pipe(v.boolean(), v.description("Whether no more input follows. Default: false."))),
    }),
    async run({ command_id, text = "", end = false }) {
      const command = background.find(command_id);
      command.write(text, end);
      return { output: { command_id, written_bytes: Buffer.byteLength(text), ...(end ? { input_ended: true } : {}) } };
    },
  });

const createStopTool = (background: BackgroundCommands): Tool =>
  defineTool({
    name: "stop_command",
    description:
      "Stops a background command with all its processes (SIGTERM, after 3 seconds SIGKILL), and returns its last output.",
    category: "command",
    readsOnly: false,
    input: v.object({ command_id: CommandId }),
    async run({ command_id }) {
      const command = background.find(command_id);
      await command.stop("it was stopped by stop_command", STOP_MS);
      return { output: readBackground(command) };
    },
  });
