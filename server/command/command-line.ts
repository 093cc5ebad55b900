import { complain, Problem, red, say } from "../host/terminal.ts";
import type { Program } from "./program.ts";
import { applySettings } from "./settings-file.ts";
import { UsageError } from "./usage.ts";
import { VERSION } from "./version.ts";

interface Command {
  readonly summary: string;
  /** Runs the command with the arguments after its name. Resolves with the exit code. */
  run(args: readonly string[], program: Program): Promise<number>;
}

/** All commands. Each is loaded only when it is used, because a start should take little time. */
const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: "serve the API on this machine",
    run: async (args, program) => (await import("./serve-command.ts")).serveCommand(args, program, commandList()),
  },
  worker: {
    summary: "execute runs on this machine as a self-hosted worker",
    run: async (args) => (await import("../worker/command.ts")).workerCommand(args),
  },
  agent: {
    summary: "execute one run that another worker has claimed (agent run)",
    run: async (args) => (await import("../worker/command.ts")).agentCommand(args),
  },
  doctor: {
    summary: "check whether this machine can run the service, and say what to do",
    run: async (args, program) => (await import("./doctor-command.ts")).doctorCommand(args, program),
  },
  backup: {
    summary: "copy the data, also while the service runs",
    run: async (args, program) => (await import("./transfer-commands.ts")).backupCommand(args, program),
  },
  restore: {
    summary: "copy a backup to an empty data directory",
    run: async (args, program) => (await import("./transfer-commands.ts")).restoreCommand(args, program),
  },
  upgrade: {
    summary: "back up the data and prepare them for this release",
    run: async (args, program) => (await import("./upgrade-command.ts")).upgradeCommand(args, program),
  },
  export: {
    summary: "write items and files for another machine or AWS",
    run: async (args, program) => (await import("./transfer-commands.ts")).exportCommand(args, program),
  },
  import: {
    summary: "read an export into an empty data directory",
    run: async (args, program) => (await import("./transfer-commands.ts")).importCommand(args, program),
  },
  vault: {
    summary: "replace the key that encrypts secrets (vault rotate)",
    run: async (args, program) => (await import("./vault-command.ts")).vaultCommand(args, program),
  },
  "login-link": {
    summary: "print a link that signs in to the web app, once",
    run: async (args, program) => (await import("./link-command.ts")).linkCommand(args, program),
  },
  stop: {
    summary: "stop the service",
    run: async (args, program) => (await import("./stop-command.ts")).stopCommand(args, program),
  },
  status: {
    summary: "show whether the service runs, and where",
    run: async (args, program) => (await import("./status-command.ts")).statusCommand(args, program),
  },
};

/**
 * Runs a command line without the name of the program. Resolves with the exit code; never rejects.
 * @param makeProgram called with the environment, to which the settings file is added
 */
export async function runCommandLine(
  commandLine: readonly string[],
  makeProgram: (environment: NodeJS.ProcessEnv) => Program,
): Promise<number> {
  try {
    const args = applySettings(commandLine, process.env);
    return await runCommand(args, makeProgram(process.env));
  } catch (error) {
    return reportError(error, makeProgram(process.env));
  }
}

async function runCommand(args: readonly string[], program: Program): Promise<number> {
  const [first = "", ...rest] = args;
  if (first === "--version" || first === "-V") {
    say(`runyard-server ${VERSION}`);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  if (command !== undefined) return await command.run(rest, program);
  const fallback = program.defaultCommand;
  if (fallback !== undefined) return (await COMMANDS[fallback]?.run(args, program)) ?? 1;
  return showHelp(first, program);
}

function showHelp(first: string, { usage }: Program): number {
  const help = `Usage: ${usage} COMMAND [options]

Runs Runyard, an HTTP API that runs cloud agents, on this machine.

${commandList()}

${usage} COMMAND --help describes a command. All commands take --settings FILE, with settings as NAME=value lines.`;
  if (["--help", "-h", "help"].includes(first)) {
    say(help);
    return 0;
  }
  complain(first === "" ? help : `There is no command "${first}".\n\n${help}`);
  return 2;
}

/** One line for each command. */
const commandList = (): string =>
  Object.entries(COMMANDS)
    .map(([name, { summary }]) => `  ${name.padEnd(9)} ${summary}`)
    .join("\n");

function reportError(error: unknown, { usage, typedCommand = usage }: Program): number {
  if (error instanceof UsageError) {
    complain(`${error.message}\nSee: ${typedCommand} --help`);
    return 2;
  }
  complain(red(error instanceof Error ? error.message : String(error)));
  const remedy = findRemedy(error);
  if (remedy !== undefined) complain(`  ${remedy}`);
  else if (error instanceof Problem) for (const detail of error.details) complain(`  ${detail}`);
  else if (error instanceof Error && error.name === "Error" && error.stack !== undefined) complain(error.stack);
  return 1;
}

/** What to do about an error of the file system. */
const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: "Use another directory, or run the command as the user who owns this one.",
  EPERM: "Use another directory, or run the command as the user who owns this one.",
  EROFS: "The file system is read-only: use another directory.",
  ENOSPC: "The disk is full: free some space and repeat the command.",
};

const findRemedy = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? REMEDIES[error.code] : undefined;
