import path from "node:path";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { examplesOf } from "../src/commands/examples.ts";
import { Context } from "../src/context.ts";
import { processShell } from "../src/process-shell.ts";
import { EPILOGUE, formatPath, makeProgram } from "../src/program.ts";

export const pageFile = path.join(import.meta.dirname, "../../docs/cli.md");

/** docs/cli.md: every command, as its help says it. */
export function cliPage(): string {
  const program = makeProgram(new Context({ ...processShell(), outIsTerminal: false }));
  const commands = program.commands.filter((command) => !command.name().startsWith("_"));
  return `${[INTRODUCTION, block(`${formatHelp(program)}\n${EPILOGUE}`), ...commands.flatMap(sections)].join("\n\n")}\n`;
}

const INTRODUCTION = `# The command line

Made by \`npm run docs\` from the commands' own \`--help\`. In a checkout, \`npm run --silent runyard -- …\` runs it;
[install.md](install.md) installs it as \`runyard\` elsewhere, for Node 20 or newer. [docs/ci.md](ci.md) is about CI.

\`\`\`sh
runyard login                                              # or RUNYARD_BASE_URL and RUNYARD_API_KEY
runyard run "Fix the flaky test" --repo https://github.com/acme/shop --follow
\`\`\`

- **The service** is that of \`RUNYARD_BASE_URL\` and \`RUNYARD_API_KEY\`; else the one that \`npm start\` runs on this
  machine, in this folder or one above it; else what \`runyard login\` stored in \`~/.config/runyard/config.json\`, which
  only you can read. A stored key is only sent to the address that it was stored for.
- **\`--json\`** prints one JSON document, the response of the API. Commands that follow a run, and lists with \`--all\`,
  print JSON Lines, one line for each event or item; after the events, the last line is the run itself.
- **Tables** are cut to the terminal's width; in a pipe they are whole, and without colors.
- **Errors** go to standard error, with the trace id that leads to the service's logs.
- **A proxy** of \`HTTPS_PROXY\` is used if \`NODE_USE_ENV_PROXY=1\` is set (Node 24).`;

function sections(command: CommandUnknownOpts): string[] {
  const own = [`## runyard ${formatPath(command)}`, block(formatHelp(command))];
  if (command.commands.length === 0) return [...own, ...exampleBlock(command)];
  return [
    ...own,
    ...command.commands.flatMap((child) =>
      child.commands.length > 0
        ? sections(child)
        : [`### runyard ${formatPath(child)}`, block(formatHelp(child)), ...exampleBlock(child)],
    ),
  ];
}

/** The options that all commands have are only at the top of the page. */
const formatHelp = (command: CommandUnknownOpts): string =>
  command.configureHelp({ showGlobalOptions: false, helpWidth: 100 }).helpInformation().trim();

const block = (text: string, language = "text"): string => `\`\`\`${language}\n${text}\n\`\`\``;

function exampleBlock(command: CommandUnknownOpts): string[] {
  const examples = examplesOf(command);
  return examples.length === 0 ? [] : [block(examples.join("\n"), "sh")];
}
