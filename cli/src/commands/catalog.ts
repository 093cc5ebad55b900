import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { type Column, printList, printRows } from "../table.ts";
import { withExamples } from "./examples.ts";

/** `runyard models`: what runs may use. */
export function modelsCommand(context: Context): CommandUnknownOpts {
  const list = new Command("list")
    .alias("ls")
    .description("list the models that runs may use; the default is marked with a star")
    .action(async () => {
      const response = await (await context.client()).models.list();
      const columns: Column<(typeof response.models)[number]>[] = [
        { name: "model", of: ({ id }) => (id === response.default_model_id ? `${id} *` : id) },
        { name: "provider", of: ({ provider }) => provider },
        { name: "$/M in", of: ({ cost }) => cost?.input_per_million_usd },
        { name: "$/M out", of: ({ cost }) => cost?.output_per_million_usd },
        { name: "disabled", of: ({ disable_reason }) => disable_reason },
        { name: "name", of: ({ display_name }) => display_name },
      ];
      context.show(response, () => printRows(context, response.models, columns));
    });
  return new Command("models").description("list models").addCommand(withExamples(list, "runyard models list"));
}

/** `runyard skills`: what runs may start from. */
export function skillsCommand(context: Context): CommandUnknownOpts {
  const list = new Command("list")
    .alias("ls")
    .description("list the skills in the repositories of your environments, or in --repo")
    .option("--repo <owner/repo>", "only this repository")
    .option("--refresh", "discover the skills of the repositories again")
    .option("--malformed", "include invalid skills, with the reason")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ repo, refresh, malformed, all }) => {
      const client = await context.client();
      const query = defined({ repo, refresh, include_malformed_skills: malformed });
      await printList(
        context,
        client.agents.list(query),
        [
          { name: "skill", of: ({ variants }) => variants[0]?.id },
          { name: "last run", of: ({ variants }) => context.timeText(variants[0]?.last_run_timestamp) },
          { name: "name", of: ({ name }) => name },
          { name: "description", of: ({ variants }) => variants[0]?.error ?? variants[0]?.description },
        ],
        { all, none: "There are no skills." },
      );
    });
  return new Command("skills")
    .description("list the skills that runs may start from")
    .addCommand(withExamples(list, "runyard skills list", "runyard skills list --repo acme/shop --refresh"));
}

/** `runyard workers`: which machines of the team are connected. */
export function workersCommand(context: Context): CommandUnknownOpts {
  const list = new Command("list")
    .alias("ls")
    .description("list the connected self-hosted workers")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all }) => {
      const client = await context.client();
      await printList(
        context,
        client.workers.list(),
        [
          { name: "worker", of: ({ worker_host }) => worker_host },
          { name: "connections", of: ({ connection_count }) => connection_count },
          { name: "since", of: ({ connected_at }) => context.timeText(connected_at) },
          { name: "seen", of: ({ last_seen_at }) => context.timeText(last_seen_at) },
        ],
        { all, none: "No worker is connected." },
      );
    });
  return new Command("workers")
    .description("list self-hosted workers")
    .addCommand(withExamples(list, "runyard workers list"));
}
