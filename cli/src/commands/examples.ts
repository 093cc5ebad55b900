import type { CommandUnknownOpts } from "@commander-js/extra-typings";

const written = new WeakMap<CommandUnknownOpts, readonly string[]>();

/** Ends the help of a command with examples, which its page in the documentation shows too. */
export function withExamples<C extends CommandUnknownOpts>(command: C, ...examples: readonly string[]): C {
  written.set(command, examples);
  command.addHelpText("after", `\nExamples:\n${examples.map((line) => `  $ ${line}`).join("\n")}`);
  return command;
}

export const examplesOf = (command: CommandUnknownOpts): readonly string[] => written.get(command) ?? [];
