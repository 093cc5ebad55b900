import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { IdentityItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { agentUid, environmentUid } from "../names.ts";
import { repeated } from "../options.ts";
import { printFields, printList } from "../table.ts";
import { withExamples } from "./examples.ts";
import { agentKeysCommand } from "./keys.ts";
import { trustRulesCommand } from "./trust-rules.ts";

/** `runyard agents …`: the team's agents as accounts of their own (identities). */
export function agentsCommand(context: Context): CommandUnknownOpts {
  return new Command("agents")
    .alias("identities")
    .description("manage your team's agents: service accounts with their own keys and defaults")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(createCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(agentKeysCommand(context))
    .addCommand(trustRulesCommand(context));
}

const AGENT = "agent uid or name";

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list the agents of your teams, oldest first")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all }) => {
      const client = await context.client();
      await printList(
        context,
        client.identities.list(),
        [
          { name: "uid", of: ({ uid }) => uid },
          { name: "available", of: ({ available }) => available },
          { name: "created", of: ({ created_at }) => context.timeText(created_at) },
          { name: "name", of: ({ name }) => name },
        ],
        { all, none: "There are no agents." },
      );
    });
  return withExamples(command, "runyard agents list");
}

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show an agent")
    .argument("<agent>", AGENT)
    .action(async (given) => {
      const client = await context.client();
      const agent = await client.identities.retrieve(await agentUid(client, given));
      context.show(agent, () => printAgent(context, agent));
    });
  return withExamples(command, "runyard agents get release-bot");
}

function printAgent(context: Context, agent: IdentityItem): void {
  printFields(context, [
    ["uid", agent.uid],
    ["name", agent.name],
    ["description", agent.description],
    ["available", agent.available],
    ["model", agent.base_model],
    ["environment", agent.environment_id],
    ["worker", agent.worker_host],
    ["skills", agent.skills.join("\n") || undefined],
    ["secrets", agent.secrets.map(({ name }) => name).join("\n") || undefined],
    ["on behalf", agent.on_behalf_of_enabled],
    ["created", context.timeText(agent.created_at)],
    ["prompt", agent.prompt],
  ]);
}

/** The defaults of an agent's runs. On an update, an empty text clears one. */
function commandWithDefaults(name: string) {
  return new Command(name)
    .option("--description <text>", "description of its purpose")
    .option("--prompt <text>", "instructions that precede the prompt of each of its runs")
    .option("--model <id>", "model of its runs")
    .option("--env <uid|name>", "environment of its runs")
    .option("--worker <id>", "self-hosted worker of its runs")
    .option("--skill <spec>", "skill of its runs; repeatable", repeated)
    .option("--secret <name>", "secret that its runs receive; repeatable", repeated)
    .addOption(
      new Option("--on-behalf-of <may>", "whether its keys may start runs for members").choices(["yes", "no"]),
    );
}

type Defaults = ReturnType<ReturnType<typeof commandWithDefaults>["opts"]>;

async function buildBody(context: Context, options: Defaults) {
  const env = options.env;
  return {
    description: options.description,
    prompt: options.prompt,
    base_model: options.model,
    environment_id: env === undefined || env === "" ? env : await environmentUid(await context.client(), env),
    worker_host: options.worker,
    skills: dropEmpty(options.skill),
    secrets: dropEmpty(options.secret)?.map((name) => ({ name })),
    on_behalf_of_enabled: options.onBehalfOf === undefined ? undefined : options.onBehalfOf === "yes",
  };
}

const dropEmpty = (given: readonly string[] | undefined) => given?.filter((item) => item !== "");

function createCommand(context: Context) {
  const command = commandWithDefaults("create")
    .description("create an agent")
    .argument("<name>", "name, unique in your team")
    .action(async (name, options) => {
      const client = await context.client();
      const agent = await client.identities.create(defined({ name, ...(await buildBody(context, options)) }));
      context.show(agent, () => printAgent(context, agent));
    });
  return withExamples(command, 'runyard agents create release-bot --env backend --prompt "Be brief."');
}

function updateCommand(context: Context) {
  const command = commandWithDefaults("update")
    .description('update an agent; omitted options keep their value, "" clears it')
    .argument("<agent>", AGENT)
    .option("--name <name>", "new name")
    .action(async (given, { name, ...options }) => {
      const client = await context.client();
      const body = defined({ name, ...(await buildBody(context, options)) });
      const agent = await client.identities.update(await agentUid(client, given), body);
      context.show(agent, () => printAgent(context, agent));
    });
  return withExamples(
    command,
    "runyard agents update release-bot --model local/runbook",
    'runyard agents update release-bot --skill ""',
  );
}

function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete an agent and all its keys; pauses its schedules")
    .argument("<agent>", AGENT)
    .action(async (given) => {
      const client = await context.client();
      const uid = await agentUid(client, given);
      await client.identities.delete(uid);
      context.show({ deleted: uid }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard agents delete release-bot");
}
