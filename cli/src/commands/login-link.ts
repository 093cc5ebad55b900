import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { Problem } from "../problem.ts";
import { withExamples } from "./examples.ts";

/** `runyard login-link`: a link that signs the person of the key in to the web app. */
export function loginLinkCommand(context: Context): CommandUnknownOpts {
  const command = new Command("login-link")
    .description("print a link that signs you in to the web app, once, within ten minutes")
    .action(async () => {
      const link = await (await context.client()).webSessions.createLink();
      context.show(link, () => {
        if (link.url === undefined) throw new Problem("This deployment has no web app.");
        context.say(link.url);
        context.note(context.errStyle.dim(`The link works once, until ${context.timeText(link.expires_at)}.`));
      });
    });
  return withExamples(command, "runyard login-link");
}
