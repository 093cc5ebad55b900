import { constants } from "node:fs";
import { access } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { tidy } from "../connection.ts";
import type { Context } from "../context.ts";
import { Problem } from "../problem.ts";
import { VERSION } from "../version.ts";
import { withExamples } from "./examples.ts";

const OLDEST_NODE = 24;
const INSTALL = `Pack it in a checkout of Runyard, as docs/install.md describes: npm install --global ./runyard-server-${VERSION}.tgz`;

/** `runyard serve`: the service on this machine. */
export const serveCommand = defineServerCommand("serve", "run the service on this machine", [
  "runyard serve --detach",
  "runyard serve --help",
]);

/** `runyard doctor`: whether this machine can run the service. */
export const doctorCommand = defineServerCommand("doctor", "check whether this machine can run the service", [
  "runyard doctor",
  "runyard doctor --json",
]);

/** `runyard worker`: this machine as a self-hosted worker. */
export const workerCommand = defineServerCommand("worker", "execute runs on this machine as a self-hosted worker", [
  "runyard worker --id rack-7 --server https://runyard.example.com",
  "runyard worker --id rack-7 --dry-run",
]);

/** `runyard agent`: one run, for a worker of another kind. */
export const agentCommand = defineServerCommand("agent", "execute one run that another worker has claimed", [
  "runyard agent run --task-id 0198c2f1-0000-7000-8000-000000000000 --server-root-url https://runyard.example.com --sandboxed",
]);

/** Whether a command passes all of its options on, `--help` included. */
export const isServerCommand = (command: CommandUnknownOpts): boolean =>
  ["serve", "doctor", "worker", "agent"].includes(command.name());

/** Defines a command of the package runyard-server, which gets all arguments. */
function defineServerCommand(name: string, purpose: string, examples: readonly string[]) {
  return (context: Context): CommandUnknownOpts => {
    const command = new Command(name)
      .description(`${purpose} (package runyard-server)`)
      .argument("[arguments...]", `arguments of \`runyard-server ${name}\``)
      .allowUnknownOption()
      .action(async (args) => {
        const { program, before } = await findServer(context);
        // The option of all commands is one of the server's too.
        const json = context.json ? ["--json"] : [];
        const connection = name === "worker" && !isHelp(args) ? await workerVariables(context, args) : {};
        // Messages about wrong usage name this command.
        const env = { ...connection, RUNYARD_TYPED_COMMAND: `runyard ${name}` };
        context.exitCode = await context.shell.exec(program, [...before, name, ...args, ...json], env);
      });
    return withExamples(command, ...examples);
  };
}

const isHelp = (args: readonly string[]): boolean => args.some((arg) => arg === "--help" || arg === "-h");

/** Names the service to a worker, with the key for it. They are found as for any other command. */
async function workerVariables(context: Context, args: readonly string[]): Promise<Record<string, string>> {
  const { baseURL, apiKey } = await context.connection(parseServer(args));
  const team = await context.team();
  return {
    RUNYARD_BASE_URL: baseURL,
    RUNYARD_API_KEY: apiKey,
    ...(team === undefined ? {} : { RUNYARD_TEAM: team }),
  };
}

/** The base URL that the worker's option --server names, with or without /api/v1. */
function parseServer(args: readonly string[]): string | undefined {
  const { server } = parseArgs({ args: [...args], options: { server: { type: "string" } }, strict: false }).values;
  if (typeof server !== "string") return undefined;
  const { origin, pathname } = new URL(tidy(server));
  const folder = pathname.replace(/\/+$/, "");
  return `${origin}${folder.endsWith("/api/v1") ? folder : `${folder}/api/v1`}`;
}

interface ServerProgram {
  readonly program: string;
  readonly before: readonly string[];
}

/** Finds the server: in the checkout of this program, as a package next to it, or on the PATH. */
async function findServer({ shell }: Context): Promise<ServerProgram> {
  for (const place of serverPlaces()) {
    if (!(await isUsable(place, constants.R_OK))) continue;
    const version = process.versions.node;
    if (Number.parseInt(version, 10) >= OLDEST_NODE) return { program: process.execPath, before: [place] };
    throw new Problem(`The server needs Node ${OLDEST_NODE}, and this is Node ${version}.`, {
      remedy: "Install Node 24 or newer: https://nodejs.org",
    });
  }
  for (const folder of (shell.env["PATH"] ?? "").split(path.delimiter)) {
    const program = path.join(folder, "runyard-server");
    if (folder !== "" && (await isUsable(program, constants.X_OK))) return { program, before: [] };
  }
  throw new Problem("The package runyard-server is not installed.", { remedy: INSTALL });
}

/** Where the server is in a checkout, and where the package is if it was installed together with this program. */
function serverPlaces(): string[] {
  const places: string[] = [];
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    places.push(path.join(folder, "server/command/runyard-server.ts"));
    places.push(path.join(folder, "node_modules/runyard-server/dist/bin/runyard-server.mjs"));
  }
  return places;
}

const isUsable = (file: string, mode: number): Promise<boolean> =>
  access(file, mode).then(
    () => true,
    () => false,
  );
