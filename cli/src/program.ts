import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { agentsCommand } from "./commands/agents.ts";
import { apiCommand } from "./commands/api.ts";
import { auditCommand } from "./commands/audit.ts";
import { bootstrapCommand } from "./commands/bootstrap.ts";
import { modelsCommand, skillsCommand, workersCommand } from "./commands/catalog.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { environmentsCommand } from "./commands/environments.ts";
import { githubCommand } from "./commands/github/github.ts";
import { keysCommand } from "./commands/keys.ts";
import { loginCommand, logoutCommand, whoamiCommand } from "./commands/login.ts";
import { loginLinkCommand } from "./commands/login-link.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { runCommand } from "./commands/run.ts";
import { runsCommand } from "./commands/runs.ts";
import { schedulesCommand } from "./commands/schedules.ts";
import { secretsCommand } from "./commands/secrets.ts";
import { agentCommand, doctorCommand, isServerCommand, serveCommand, workerCommand } from "./commands/server.ts";
import { teamsCommand } from "./commands/teams.ts";
import { triggersCommand } from "./commands/triggers.ts";
import { usageCommand } from "./commands/usage.ts";
import { webhooksCommand } from "./commands/webhooks.ts";
import { Context } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import { explain } from "./problem.ts";
import type { Shell } from "./shell.ts";
import { terminalText } from "./terminal-text.ts";
import { VERSION } from "./version.ts";

/** Runs a command line, without the name of the program, and returns its exit code. Never throws. */
export async function runCli(shell: Shell, args: readonly string[]): Promise<number> {
  const context = new Context(shell);
  try {
    await makeProgram(context).parseAsync([...args], { from: "user" });
    return context.exitCode;
  } catch (error) {
    // Commander has already printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const connection = await context.connection().catch(() => undefined);
    const { lines, exitCode } = explain(error, connection);
    const [first = "", ...rest] = lines;
    shell.err(terminalText(`${context.errStyle.red("error:")} ${first}\n${rest.map((line) => `${line}\n`).join("")}`));
    return exitCode;
  }
}

/** Defines all commands, for execution, help, completion and documentation. */
export function makeProgram(context: Context): CommandUnknownOpts {
  const program = new Command("runyard")
    .description("Run cloud agents from the command line.")
    .version(`runyard ${VERSION}`, "-V, --version", "print the version")
    .option("--json", "print JSON: one document, or a line for each of many things")
    .option("--base-url <url>", "the service's address (default: RUNYARD_BASE_URL, the local cloud here, or the login)")
    .option("--team <uid|name>", "the team to act for; only people with several teams need it")
    .option("--utc", "print times in UTC (default: in the time zone of this machine)")
    .hook("preAction", (root) => context.use(root.opts()))
    .addCommand(runCommand(context))
    .addCommand(runsCommand(context))
    .addCommand(schedulesCommand(context))
    .addCommand(agentsCommand(context))
    .addCommand(environmentsCommand(context))
    .addCommand(secretsCommand(context))
    .addCommand(triggersCommand(context))
    .addCommand(githubCommand(context))
    .addCommand(webhooksCommand(context))
    .addCommand(teamsCommand(context))
    .addCommand(keysCommand(context))
    .addCommand(modelsCommand(context))
    .addCommand(skillsCommand(context))
    .addCommand(workersCommand(context))
    .addCommand(usageCommand(context))
    .addCommand(auditCommand(context))
    .addCommand(apiCommand(context))
    .addCommand(mcpCommand(context))
    .addCommand(loginCommand(context))
    .addCommand(loginLinkCommand(context))
    .addCommand(logoutCommand(context))
    .addCommand(whoamiCommand(context))
    .addCommand(serveCommand(context))
    .addCommand(doctorCommand(context))
    .addCommand(workerCommand(context))
    .addCommand(agentCommand(context))
    .addCommand(bootstrapCommand(context))
    .addCommand(completionCommand(context))
    .addCommand(completeCommand(context), { hidden: true })
    .addHelpText("after", EPILOGUE)
    .helpCommand(false);
  program
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, helpWidth: context.shell.outIsTerminal ? context.shell.columns : 100 })
    .configureOutput({
      writeOut: (text) => context.shell.out(text),
      writeErr: (text) => context.shell.err(terminalText(text)),
      outputError: (text, write) => write(text.replace(/^error:/, context.errStyle.red("error:"))),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  for (const command of program.commands) settle(command, program);
  return program;
}

/** Copies the settings for help and errors to a command and its subcommands. */
function settle(command: CommandUnknownOpts, parent: CommandUnknownOpts): void {
  command.copyInheritedSettings(parent).helpCommand(false);
  if (isServerCommand(command)) command.helpOption(false);
  command.showHelpAfterError(`See: runyard ${formatPath(command)} --help`);
  for (const child of command.commands) settle(child, command);
}

/** The words that lead to a command, without the program's own. */
export function formatPath(command: CommandUnknownOpts): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${formatPath(parent)} ${command.name()}`;
}

/** The end of the help of the whole program. */
export const EPILOGUE = `
Exit codes:
  0    done; a run that was followed SUCCEEDED
  1    a run that was followed ended FAILED or ERROR, or the work could not be done
  2    the command line is wrong, or no service or key is configured; nothing was sent
  3    a run that was followed is BLOCKED: it asks something
  4    the service refused the request, or could not be reached
  130  a run that was followed was CANCELLED, or the following was interrupted
  141  the reader of the output closed it, as \`head\` does; a run that was followed goes on

Environment:
  RUNYARD_API_KEY, RUNYARD_BASE_URL  key and address; they win over what \`runyard login\` stored
  NO_COLOR, FORCE_COLOR              no colours at all, or colours in pipes too`;
