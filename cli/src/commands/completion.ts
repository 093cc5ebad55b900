import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { listValues } from "./completion-values.ts";
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
    .description("print a completion script for your shell, which also completes names and ids of your resources")
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
    .action(async (words, _options, { parent }) => {
      if (parent === null) return;
      for (const candidate of await listCandidates(context, parent, words)) context.say(candidate);
    });
}

/** The completions of the last, incomplete word. */
async function listCandidates(context: Context, root: CommandUnknownOpts, words: readonly string[]): Promise<string[]> {
  const begun = words.at(-1) ?? "";
  const { command, option, position } = readWords(root, words.slice(0, -1));
  const values =
    option !== undefined
      ? (option.argChoices ?? (await listValues(context, option.attributeName(), words)))
      : begun.startsWith("-")
        ? listOptions(command).map(({ long }) => long ?? "")
        : [...visible(command).map((one) => one.name()), ...(await listArguments(context, command, position, words))];
  return values.filter((value) => value.startsWith(begun));
}

/** What complete words name: a command, how many of its arguments, and the option whose value the next word is. */
function readWords(root: CommandUnknownOpts, words: readonly string[]) {
  let command = root;
  let position = 0;
  let option: Option | undefined;
  for (const word of words) {
    if (option !== undefined) option = undefined;
    else if (word.startsWith("-"))
      option = listOptions(command).find(({ required, short, long }) => required && [short, long].includes(word));
    else {
      const next = command.commands.find((one) => namesOf(one).includes(word));
      if (next === undefined) position += 1;
      command = next ?? command;
    }
  }
  return { command, option, position };
}

/** The values of the argument at a position; the last argument may take any number of values. */
async function listArguments(
  context: Context,
  command: CommandUnknownOpts,
  position: number,
  words: readonly string[],
): Promise<readonly string[]> {
  const all = command.registeredArguments;
  const last = all.at(-1);
  const argument = all[position] ?? (last?.variadic === true ? last : undefined);
  if (argument === undefined) return [];
  const isOfGroup = argument === all[0] && argument.name() === "uid";
  const name = isOfGroup ? (command.parent?.name() ?? "") : argument.name();
  return argument.argChoices ?? listValues(context, name, words);
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
