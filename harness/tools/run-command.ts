import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import { defineTool, type Tool } from "../engine/tool.ts";
import { toCommandOutput } from "./agent-tools.ts";

/** Seconds that a command may be given. */
const MAX_SECONDS = 3_600;

/** Runs a command in the sandbox; the next one starts where it has ended. */
export const createRunCommandTool = (shell: Shell): Tool =>
  defineTool({
    name: "run_command",
    description:
      "Runs a command by bash with -eo pipefail and answers its exit code and what it printed (16 KB, its beginning and its end; " +
      "standard error is part of it). The working directory is kept for the next command, variables are not. Nothing that it " +
      "starts outlives it: a server must be started and used by one command. It has no terminal and no input.",
    category: "command",
    readsOnly: false,
    input: v.object({
      command: v.pipe(v.string(), v.nonEmpty(), v.description("What bash is to run; several lines are fine.")),
      working_directory: v.optional(
        v.pipe(v.string(), v.description("Where to start instead of where the last command ended.")),
      ),
      timeout_seconds: v.optional(
        v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(MAX_SECONDS),
          v.description("After so many seconds it is ended. 600 when absent."),
        ),
      ),
    }),
    async run({ command, working_directory, timeout_seconds }, { signal }) {
      const result = await shell.run(
        {
          command,
          ...(working_directory === undefined ? {} : { workingDirectory: working_directory }),
          ...(timeout_seconds === undefined ? {} : { timeoutSeconds: timeout_seconds }),
        },
        signal,
      );
      return { output: toCommandOutput(result), isError: result.exitCode !== 0 };
    },
  });
