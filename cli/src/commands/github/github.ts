import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { wholeNumber } from "../../options.ts";
import { usage } from "../../problem.ts";
import { printFields, printList } from "../../table.ts";
import { withExamples } from "../examples.ts";
import { setupCommand } from "./setup.ts";

const INSTALLATION = "GitHub's id of the installation";
const installationId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

/** `runyard github …`: the GitHub App of a deployment, and the installations of it that a team has claimed. */
export function githubCommand(context: Context): CommandUnknownOpts {
  return new Command("github")
    .description("set up the GitHub App of a deployment, and claim its installations for your team")
    .addCommand(setupCommand(context))
    .addCommand(listCommand(context))
    .addCommand(claimCommand(context))
    .addCommand(releaseCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list the installations of the GitHub App that your team has claimed")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all }) => {
      const client = await context.client();
      await printList(
        context,
        client.github.installations(),
        [
          { name: "installation", of: ({ installation_id }) => installation_id },
          { name: "account", of: ({ account }) => account.login },
          { name: "repositories", of: ({ repository_selection }) => repository_selection },
          { name: "claimed", of: ({ claimed_at }) => context.timeText(claimed_at) },
        ],
        { all, none: "Your team has claimed no installation." },
      );
    });
  return withExamples(command, "runyard github list");
}

function claimCommand(context: Context) {
  const command = new Command("claim")
    .description("claim an installation of the GitHub App: without a URL, print the pages of GitHub that start it")
    .argument("[url]", "the URL that GitHub has redirected to, with its state and code")
    .option("--installation <id>", `${INSTALLATION}, if the URL does not name it`, installationId)
    .action(async (url, { installation }) => {
      const client = await context.client();
      if (url === undefined) {
        const claim = await client.github.beginClaim();
        return context.show(claim, () => {
          context.say(`Install the App: ${claim.install_url}`);
          context.say(`Or, where it is installed: ${claim.authorize_url}`);
          context.say(`Then pass the URL that GitHub redirects to, until ${context.timeText(claim.expires_at)}:`);
          context.say("  runyard github claim 'URL'");
        });
      }
      const query = URL.parse(url)?.searchParams;
      const [state, code] = [query?.get("state"), query?.get("code")];
      const id = installation ?? Number(query?.get("installation_id"));
      if (!state || !code) throw usage("The URL has no state and code.", "Copy it from the browser as it is.");
      if (!Number.isInteger(id) || id < 1)
        throw usage("The URL names no installation.", "Pass its id as --installation.");
      const claimed = await client.github.claim({ installation_id: id, state, code });
      context.show(claimed, () =>
        printFields(context, [
          ["installation", claimed.installation_id],
          ["account", claimed.account.login],
          ["repositories", claimed.repository_selection],
        ]),
      );
    });
  return withExamples(command, "runyard github claim", "runyard github claim 'https://runyard.example.com/github?…'");
}

function releaseCommand(context: Context) {
  const command = new Command("release")
    .description("give up an installation of the GitHub App, so that another team can claim it")
    .argument("<installation>", INSTALLATION, installationId)
    .action(async (id) => {
      await (await context.client()).github.release(String(id));
      context.show({ installation_id: id }, () => context.say(`Your team no longer uses the installation ${id}.`));
    });
  return withExamples(command, "runyard github release 2000001");
}
