import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { withExamples } from "./examples.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** The scripts call the command itself, so that they are never out of date. */
const SCRIPTS: Record<(typeof SHELLS)[number], string> = {
  bash: `_runyard() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(runyard __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _runyard runyard
`,
  zsh: `#compdef runyard
_runyard() {
  local -a found
  found=("\${(@f)$(runyard __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found || _files
}
compdef _runyard runyard
`,
  fish: `complete -c runyard -a '(runyard __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** `runyard completion`: what a shell needs to complete the command. */
export function completionCommand(context: Context): CommandUnknownOpts {
  const command = new Command("completion")
    .description("print a completion script for your shell")
    .addArgument(new Command().createArgument("<shell>", "which shell").choices(SHELLS))
    .action((shell) => context.shell.out(SCRIPTS[shell]));
  return withExamples(
    command,
    'echo "source <(runyard completion bash)" >> ~/.bashrc',
    "runyard completion fish > ~/.config/fish/completions/runyard.fish",
  );
}

/** The input of the scripts: the words so far, the last of them incomplete. */
export function completeCommand(context: Context): CommandUnknownOpts {
  return new Command("__complete")
    .argument("[words...]")
    .allowUnknownOption()
    .helpOption(false)
    .action((words, _options, { parent }) => {
      for (const candidate of parent === null ? [] : candidates(parent, words)) context.say(candidate);
    });
}

/** The completions of the last, incomplete argument. */
function candidates(root: CommandUnknownOpts, words: readonly string[]): string[] {
  const before = words.slice(0, -1);
  const begun = words.at(-1) ?? "";
  let command = root;
  for (const word of before) command = command.commands.find((one) => namesOf(one).includes(word)) ?? command;
  const options = listOptions(command);
  const last = before.at(-1) ?? "";
  const previous = options.find(
    ({ required, short = "", long = "" }) => required && last !== "" && [short, long].includes(last),
  );
  const values =
    previous !== undefined
      ? (previous.argChoices ?? [])
      : begun.startsWith("-")
        ? options.map(({ long }) => long ?? "")
        : [...visible(command).map((one) => one.name()), ...choicesOf(command)];
  return values.filter((value) => value.startsWith(begun));
}

const namesOf = (command: CommandUnknownOpts): string[] => [command.name(), ...command.aliases()];

/** Its own options and those that every command has. */
function listOptions(command: CommandUnknownOpts): readonly Option[] {
  const chain = [command];
  for (let parent = command.parent; parent !== null; parent = parent.parent) chain.push(parent);
  return [...chain.flatMap(({ options }) => options), new Option("--help")];
}

const visible = (command: CommandUnknownOpts): readonly CommandUnknownOpts[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");

const choicesOf = (command: CommandUnknownOpts): readonly string[] =>
  command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
