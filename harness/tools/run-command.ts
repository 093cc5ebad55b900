import * as v from "valibot";
import type { BackgroundCommands } from "../commands/background-commands.ts";
import type { Shell } from "../commands/shell.ts";
import { defineTool, type Tool } from "../engine/tool.ts";
import { readBackground } from "./background-output.ts";
import { toCommandOutput } from "./command-output.ts";

/** The longest time limit of a command. */
const MAX_SECONDS = 3_600;

/** How long a background command may take to listen on a port or to end, before its start is reported. */
const SETTLE_MS = 3_000;

/** Creates the tool that runs a command in the sandbox. The next command starts where it ended. */
export const createRunCommandTool = (shell: Shell, background: BackgroundCommands, settleMs = SETTLE_MS): Tool =>
  defineTool({
    name: "run_command",
    description:
      "Runs a command in bash with -eo pipefail and returns its exit code and its output (beginning and end, 16 KB at most, including " +
      "standard error). A longer output is in a file that the result names as `output_file`. The working directory is kept for the next command, variables are not. Processes that it starts end " +
      "with it, unless `background` is true. Its standard input is empty, and it has no terminal unless `tty` is true: start what asks " +
      "for input in the background.",
    category: "command",
    readsOnly: false,
    input: v.object({
      command: v.pipe(v.string(), v.nonEmpty(), v.description("The bash command; may have several lines.")),
      working_directory: v.optional(
        v.pipe(v.string(), v.description("Where to start. Default: where the last command ended.")),
      ),
      timeout_seconds: v.optional(
        v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(MAX_SECONDS),
          v.description("Time limit in seconds. Default: 600; none in the background."),
        ),
      ),
      background: v.optional(
        v.pipe(
          v.boolean(),
          v.description(
            "Start the command and return its `command_id`, such as a server that later commands use. Then use read_command, write_command " +
              "and stop_command. It ends with this execution. Default: false.",
          ),
        ),
      ),
      tty: v.optional(
        v.pipe(
          v.boolean(),
          v.description("Run it at a pseudo-terminal, for programs that demand one. Default: false."),
        ),
      ),
    }),
    async run(input, { signal, onOutput }) {
      const { command, working_directory, timeout_seconds, background: isBackground = false, tty = false } = input;
      if (isBackground) {
        const workingDirectory = working_directory ?? shell.here;
        const request = { command, workingDirectory, timeoutSeconds: timeout_seconds, tty };
        const started = await background.start(request);
        const hasSettled = () => started.ports.length > 0;
        await started.waitFor(hasSettled, { timeoutMs: settleMs, signal, onOutput });
        // The first read_command returns this output too: otherwise it could wait for a line that has come already.
        const output = {
          ...readBackground(started, started.end === undefined),
          working_directory: workingDirectory,
        };
        const note = background.sharesNetwork ? {} : { note: NO_NETWORK };
        return { output: { ...output, ...note }, isError: started.end !== undefined && started.end.exitCode !== 0 };
      }
      const result = await shell.run(
        {
          command,
          ...(tty ? { tty } : {}),
          ...(working_directory === undefined ? {} : { workingDirectory: working_directory }),
          ...(timeout_seconds === undefined ? {} : { timeoutSeconds: timeout_seconds }),
          ...(onOutput === undefined ? {} : { onOutput }),
        },
        signal,
      );
      return { output: toCommandOutput(result), isError: result.exitCode !== 0 };
    },
  });

const NO_NETWORK = "commands have no network on this machine, so other commands cannot reach the ports of this one";
