import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import { defineTool, type Tool } from "../engine/tool.ts";
import { toCommandOutput } from "./agent-tools.ts";

/** The longest time limit of a command. */
const MAX_SECONDS = 3_600;

/** Creates the tool that runs a command in the sandbox. The next command starts where it ended. */
export const createRunCommandTool = (shell: Shell): Tool =>
  defineTool({
    name: "run_command",
    description:
      "Runs a command in bash with -eo pipefail and returns its exit code and its output (beginning and end, 16 KB at most, including " +
      "standard error). A longer output is in a file that the result names as `output_file`. The working directory is kept for the next command, variables are not. Processes that it starts end " +
      "with it: start and use a server in one command. It has no terminal and no standard input.",
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
          v.description("Time limit in seconds. Default: 600."),
        ),
      ),
    }),
    async run({ command, working_directory, timeout_seconds }, { signal, onOutput }) {
      const result = await shell.run(
        {
          command,
          ...(working_directory === undefined ? {} : { workingDirectory: working_directory }),
          ...(timeout_seconds === undefined ? {} : { timeoutSeconds: timeout_seconds }),
          ...(onOutput === undefined ? {} : { onOutput }),
        },
        signal,
      );
      return { output: toCommandOutput(result), isError: result.exitCode !== 0 };
    },
  });
