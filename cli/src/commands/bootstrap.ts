import { existsSync } from "node:fs";
import path from "node:path";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import * as v from "valibot";
import { tidy } from "../connection.ts";
import type { Context } from "../context.ts";
import { Problem } from "../problem.ts";
import { terminalText } from "../terminal-text.ts";
import { withExamples } from "./examples.ts";
import { storeLogin } from "./login.ts";

const Made = v.looseObject({ key: v.string() });

/** `runyard bootstrap`: the first team of a deployment, its admin and their key. */
export function bootstrapCommand(context: Context): CommandUnknownOpts {
  const command = new Command("bootstrap")
    .description("after a deployment to AWS: create the first team, its admin and an API key, and log in with it")
    .requiredOption("--email <address>", "the admin's address")
    .option("--name <name>", "the admin's name (default: the email address)")
    .option("--team-name <name>", "the team's name (default: First team)")
    .option("--table <name>", "the table of the deployment (default: runyard)")
    .action(async ({ email, name, teamName, table }) => {
      const folder = checkout(context.shell.cwd);
      const flags = { email, name, team: teamName, table };
      const args = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, value]));
      const { code, stdout } = await context.shell.run(process.execPath, ["operate/bootstrap.ts", ...args], folder);
      if (code !== 0) throw new Problem("Nothing was created.");
      const created = v.parse(v.pipe(v.string(), v.parseJson(), Made), stdout);
      context.shell.out(terminalText(stdout));
      if (context.baseURL === undefined) return context.note("Keep the key. `runyard login` stores it.");
      context.note(`Stored in ${await storeLogin(context, tidy(context.baseURL), created.key)}.`);
    });
  return withExamples(
    command,
    "runyard bootstrap --email you@example.com",
    "runyard bootstrap --email you@example.com --base-url https://runyard.example.com/api/v1",
  );
}

/** The service's own checkout, which it was deployed from: there is no key yet, so the table is written to directly. */
function checkout(cwd: string): string {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, "operate/bootstrap.ts")) && existsSync(path.join(folder, "cdk.json")))
      return folder;
    if (folder === path.dirname(folder)) break;
  }
  throw new Problem("This is not a checkout of Runyard.", {
    remedy: "Run it in the folder that you deployed from, with the AWS credentials that you deployed with.",
  });
}
