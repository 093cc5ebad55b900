import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root } from "./run-command.ts";

export interface Verb {
  /** The program, from the repository's root. */
  readonly file: string;
  /** What it does, in one line of the help. */
  readonly summary: string;
  /** Options of Node. @default none */
  readonly nodeOptions?: readonly string[];
}

export interface Toolbox {
  /** How people start it: `npm run lab`. */
  readonly command: string;
  readonly summary: string;
  readonly verbs: Readonly<Record<string, Verb>>;
}

/** Runs the program of a verb with the other arguments, or prints the verbs. Returns the exit code: 2 for an unknown verb. */
export async function runVerb(toolbox: Toolbox, [name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === "--help" || name === "-h") {
    console.log(describeVerbs(toolbox));
    return 0;
  }
  const verb = Object.hasOwn(toolbox.verbs, name) ? toolbox.verbs[name] : undefined;
  if (verb === undefined) {
    console.error(`${toolbox.command} has no verb "${name}".\n\n${describeVerbs(toolbox)}`);
    return 2;
  }
  return runProgram(verb, args);
}

function describeVerbs({ command, summary, verbs }: Toolbox): string {
  const width = Math.max(...Object.keys(verbs).map((name) => name.length));
  const lines = Object.entries(verbs).map(([name, verb]) => `  ${name.padEnd(width)}  ${verb.summary}`);
  return [`Usage: ${command} -- VERB [options]`, "", summary, "", ...lines].join("\n");
}

/** The program ends by itself on Ctrl-C, which the terminal sends to it too; other signals are passed on to it. */
async function runProgram({ file, nodeOptions = [] }: Verb, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...nodeOptions, join(root, file), ...args], { stdio: "inherit" });
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code]: (number | null)[] = await once(child, "exit");
  return code ?? 1;
}
