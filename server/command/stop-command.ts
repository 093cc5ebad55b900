import { toDisplayPath } from "../host/paths.ts";
import { endProcess } from "../host/processes.ts";
import { say, warn } from "../host/terminal.ts";
import { servePaths } from "./local-state.ts";
import type { Program } from "./program.ts";
import { findProcess, forgetProcess } from "./service-process.ts";
import { parseFlags } from "./usage.ts";

/** The time that executions have to end, and the server after them. */
const DEADLINE_SECONDS = 60;

const help = ({ usage, homeText }: Program): string => `Usage: ${usage} stop [options]

Stops the service. Runs that are executing continue at the next start.

  --data DIR   data directory of the service (default: data in ${homeText})
  --help       show this text

Exit code: 0, also if the service was not running.`;

/** Stops the service of a data directory. */
export async function stopCommand(args: readonly string[], program: Program): Promise<number> {
  const { values } = parseFlags(args, { data: { type: "string" } });
  if (values["help"]) {
    say(help(program));
    return 0;
  }
  const { data } = servePaths(program.home, values.data);
  const found = await findProcess(data);
  if (found === undefined || !found.isRunning) {
    await forgetProcess(data);
    const ended = found === undefined ? "" : ` (process ${found.service.process.pid} ended without being stopped)`;
    say(`Runyard is not running on ${toDisplayPath(data)}${ended}.`);
    return 0;
  }
  const { process: mark } = found.service;
  say(`Stopping process ${mark.pid} …`);
  if ((await endProcess(mark, DEADLINE_SECONDS)) === "killed") {
    warn(`It did not end within ${DEADLINE_SECONDS} seconds and was killed. Nothing that was acknowledged is lost.`);
    await forgetProcess(data);
  }
  say("Runyard is stopped. Runs that were executing continue at the next start.");
  return 0;
}
