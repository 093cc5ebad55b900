import { quoteForShell } from "../commands/shell-quote.ts";
import type { CommandLineAgent } from "./agent.ts";
import { buildRelayStart } from "./relay.ts";

/** The program to run, as commands see it. */
interface Program {
  readonly agent: Pick<CommandLineAgent, "program">;
  /** The directory whose `node_modules` contains it. */
  readonly folder: string;
  /** The Node that runs it. */
  readonly node: string;
}

/** The files of a turn, in one directory. */
interface TurnFiles {
  /** The directory, as commands see it. */
  readonly folder: string;
  /** The socket of the forwarder. */
  readonly socket: string;
  readonly prompt: string;
}

/**
 * Builds the script that connects the agent to its model API, runs it, and prints its error output if it fails.
 * @param run the agent's own script
 */
export function buildTurnScript({ agent, folder, node }: Program, run: string, files: TurnFiles): string {
  return [
    `agent=${quoteForShell(`${folder}/node_modules/${agent.program}`)}`,
    `node() { ${quoteForShell(node)} "$@"; }`,
    ...buildRelayStart(node, files.folder, files.socket),
    "run() {",
    run,
    "}",
    'complaints="$TMPDIR/agent-complaints"',
    "code=0",
    `run < ${quoteForShell(`${files.folder}/${files.prompt}`)} 2> "$complaints" || code=$?`,
    '[ "$code" = 0 ] || tail -c 2000 "$complaints"',
    'exit "$code"',
  ].join("\n");
}
