import { Command, type CommandUnknownOpts, InvalidArgumentError, Option } from "@commander-js/extra-typings";
import type { TeamDetail, TeamItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { environmentUid, teamUid } from "../names.ts";
import { printFields, printList } from "../table.ts";
import { withExamples } from "./examples.ts";
import { invitationsCommand, membersCommand } from "./members.ts";

const TEAM = "team uid or name";

/** `runyard teams …`: teams, with their settings, members and invitations. */
export function teamsCommand(context: Context): CommandUnknownOpts {
  return new Command("teams")
    .description("manage your teams, their settings, members and invitations")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(createCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(membersCommand(context))
    .addCommand(invitationsCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list your teams")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all }) => {
      const client = await context.client();
      const columns = [
        { name: "uid", of: ({ uid }: TeamItem) => uid },
        { name: "name", of: ({ name }: TeamItem) => name },
      ];
      await printList(context, client.teams.list(), columns, { all, none: "There are no teams." });
    });
  return withExamples(command, "runyard teams list");
}

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show a team, its settings, and what its models cost this month")
    .argument("<team>", TEAM)
    .action(async (given) => {
      const client = await context.client();
      printTeam(context, await client.teams.retrieve(await teamUid(client, given)));
    });
  return withExamples(command, "runyard teams get Core");
}

function printTeam(context: Context, team: TeamItem & Partial<Pick<TeamDetail, "month">>): void {
  const { settings, month } = team;
  context.show(team, () =>
    printFields(context, [
      ["uid", team.uid],
      ["name", team.name],
      ["agents", settings.identity_limit],
      ["concurrency", settings.concurrency_limit],
      ["queue", settings.queue_limit],
      ["model", settings.default_model_id],
      ["environment", settings.default_environment_id],
      ["commit author", settings.commit_author],
      ["budget", settings.budget_usd_month],
      ["retention", settings.retention_days],
      ["public runs", settings.sharing_allowed ? "allowed" : "forbidden"],
      ["spent", month && `$${month.spent_usd.toFixed(2)} until ${context.timeText(month.renews_at)}`],
    ]),
  );
}

function createCommand(context: Context) {
  const command = new Command("create")
    .description("create a team, with you as its admin")
    .argument("<name>", "name")
    .action(async (name) => printTeam(context, await (await context.client()).teams.create({ name })));
  return withExamples(command, "runyard teams create Core");
}

function updateCommand(context: Context) {
  const command = new Command("update")
    .description('update a team; omitted options keep their value, "" restores the default')
    .argument("<team>", TEAM)
    .option("--name <name>", "new name")
    .option("--model <id>", "default model of its runs")
    .option("--env <uid|name>", "default environment of its runs")
    .option("--commit-author <name-and-email>", "author of commits, such as `Build Bot <bot@example.com>`")
    .option("--budget <usd>", "what its models may cost in a calendar month (default: no limit)", numberOrDefault)
    .option("--retention <days>", "days for which runs are kept after their end (default: no limit)", numberOrDefault)
    .addOption(
      new Option("--sharing <rule>", "whether runs can be shared with everybody who has a link").choices([
        "allowed",
        "forbidden",
      ]),
    )
    .option("--concurrency <n>", "runs that execute at the same time", numberOrDefault)
    .option("--queue <n>", "runs that wait for capacity", numberOrDefault)
    .option("--agents <n>", "agents that are available", numberOrDefault)
    .action(
      async (given, { name, model, env, commitAuthor, budget, retention, sharing, concurrency, queue, agents }) => {
        const client = await context.client();
        const settings = defined({
          default_model_id: orNull(model),
          default_environment_id: env === undefined || env === "" ? orNull(env) : await environmentUid(client, env),
          commit_author: orNull(commitAuthor),
          budget_usd_month: orNull(budget),
          retention_days: orNull(retention),
          sharing_allowed: sharing === undefined ? undefined : sharing === "allowed",
          concurrency_limit: orNull(concurrency),
          queue_limit: orNull(queue),
          identity_limit: orNull(agents),
        });
        printTeam(context, await client.teams.update(await teamUid(client, given), defined({ name, settings })));
      },
    );
  return withExamples(
    command,
    "runyard teams update Core --retention 90 --budget 500",
    'runyard teams update Core --retention ""',
  );
}

/** The API restores the default of a setting that is null. */
const orNull = <T>(value: T | ""): T | null => (value === "" ? null : value);

/** A number, or an empty text. The API knows the bounds. */
function numberOrDefault(text: string): number | "" {
  if (text === "") return "";
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number, or "" for the default.');
}

function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete a team with all it has; its runs must have ended and its schedules be deleted")
    .argument("<team>", TEAM)
    .action(async (given) => {
      const client = await context.client();
      const uid = await teamUid(client, given);
      await client.teams.delete(uid);
      context.show({ deleted: uid }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard teams delete Core");
}
