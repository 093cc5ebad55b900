import { Problem, say } from "../host/terminal.ts";
import { requestLink } from "./links.ts";
import { readLocalState, servePaths } from "./local-state.ts";
import type { Program } from "./program.ts";
import { parseFlags } from "./usage.ts";

const help = ({ usage, homeText }: Program): string => `Usage: ${usage} login-link [options]

Prints a new link that signs in to the web app of the running service, once.

  --data DIR   data directory of the service (default: data in ${homeText})
  --help       show this text`;

/** Prints a link that signs in to the web app. */
export async function linkCommand(args: readonly string[], program: Program): Promise<number> {
  const { values } = parseFlags(args, { data: { type: "string" } });
  if (values["help"]) {
    say(help(program));
    return 0;
  }
  const state = await readLocalState(servePaths(program.home, values.data).localFile);
  if (state === undefined) throw new Problem("Runyard has not been started here: start it first.");
  say((await requestLink(state)) ?? state.web_url);
  return 0;
}
