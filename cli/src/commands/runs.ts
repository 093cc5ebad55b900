import { Command, type CommandUnknownOpts, InvalidArgumentError, Option } from "@commander-js/extra-typings";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { cancelRun, followRun } from "../follow/follow.ts";
import { environmentUid, scheduleId } from "../names.ts";
import { pairs, time, wholeNumber } from "../options.ts";
import { stateText } from "../style.ts";
import { type Column, printFields, printList, timeText } from "../table.ts";
import { withExamples } from "./examples.ts";
import { interruptOption } from "./run.ts";
import { artifactsCommand, conversationCommand, responseCommand, transcriptCommand } from "./run-results.ts";

const STATES = [
  "QUEUED",
  "PENDING",
  "CLAIMED",
  "INPROGRESS",
  "SUCCEEDED",
  "FAILED",
  "ERROR",
  "BLOCKED",
  "CANCELLED",
] as const;

/** `runyard runs …`: runs that are there. */
export function runsCommand(context: Context): CommandUnknownOpts {
  return new Command("runs")
    .description("look at runs, follow, steer and cancel them, fetch what they made")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(followCommand(context))
    .addCommand(followupCommand(context))
    .addCommand(cancelCommand(context))
    .addCommand(responseCommand(context))
    .addCommand(conversationCommand(context))
    .addCommand(transcriptCommand(context))
    .addCommand(artifactsCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("the runs that you see, the latest first")
    .option("--state <state>", "only in this state; repeatable", states)
    .option("--search <text>", "only where title, skill or prompt says this, typing errors allowed")
    .option("--metadata <name=value>", "only with this; repeatable", pairs)
    .option("--env <uid|name>", "only in this environment")
    .option("--schedule <id|name>", "only of this schedule")
    .option("--skill <spec>", "only from this skill")
    .option("--model <id>", "only by this model")
    .option("--creator <uid>", "only created by this account")
    .option("--ancestor <run>", "only descendants of this run")
    .option("--source <source>", "only from here: API, CLI, SCHEDULED_AGENT, GITHUB_ACTION …")
    .option("--after <time>", "only created after this: a date, or 90m, 24h, 7d ago", time)
    .option("--before <time>", "only created before this", time)
    .addOption(
      new Option("--sort <by>", "the order")
        .choices(["updated_at", "created_at", "title", "agent"])
        .default("updated_at"),
    )
    .option("--ascending", "the other way round")
    .option("--limit <n>", "how many", wholeNumber(1, 500))
    .option("--all", "all of them; with --json one run a line")
    .action(async (options) => {
      const client = await context.client();
      const query = defined({
        state: options.state,
        q: options.search,
        metadata: options.metadata,
        environment_id: options.env === undefined ? undefined : await environmentUid(client, options.env),
        schedule_id: options.schedule === undefined ? undefined : await scheduleId(client, options.schedule),
        skill: options.skill,
        model_id: options.model,
        creator: options.creator,
        ancestor_run_id: options.ancestor,
        source: options.source,
        created_after: options.after,
        created_before: options.before,
        sort_by: options.sort,
        sort_order: options.ascending === true ? ("asc" as const) : undefined,
        limit: options.limit ?? (options.all === true ? 100 : undefined),
      });
      await printList(context, client.runs.list(query), columns(context), {
        all: options.all,
        none: "There are no runs.",
      });
    });
  return withExamples(
    command,
    "runyard runs list --state FAILED --state ERROR --after 24h",
    "runyard runs list --metadata ticket=SHOP-1412 --json | jq '.runs[].state'",
    "runyard runs list --all --json > runs.jsonl",
  );
}

/** States in any case, each refused at once where it is none. */
function states(text: string, earlier: readonly RunItem["state"][] = []): RunItem["state"][] {
  const state = STATES.find((one) => one === text.toUpperCase());
  if (state === undefined) throw new InvalidArgumentError(`Allowed choices are ${STATES.join(", ")}.`);
  return [...earlier, state];
}

const columns = ({ style }: Context): readonly Column<RunItem>[] => [
  { name: "run", of: (run) => run.run_id },
  { name: "state", of: (run) => run.state, paint: (text, run) => text.replace(run.state, stateText(style, run.state)) },
  { name: "created", of: (run) => timeText(run.created_at) },
  { name: "source", of: (run) => run.source },
  { name: "title", of: (run) => run.title },
];

function getCommand(context: Context) {
  const command = new Command("get")
    .description("one run in full")
    .argument("<run>", "its id")
    .action(async (id) => {
      const client = await context.client();
      const run = await client.runs.retrieve(id);
      context.show(run, () => printRun(context, run));
    });
  return withExamples(
    command,
    "runyard runs get 01990000-0000-7000-8000-000000000000",
    "runyard runs get $id --json | jq .state",
  );
}

function printRun(context: Context, run: RunItem): void {
  const config = run.agent_config;
  printFields(context, [
    ["run", run.run_id],
    ["state", run.state],
    ["message", run.status_message?.message],
    ["title", run.title],
    ["created", timeText(run.created_at)],
    ["started", timeText(run.started_at)],
    ["updated", timeText(run.updated_at)],
    ["run time", run.run_time],
    ["creator", run.creator?.display_name ?? run.creator?.uid],
    ["executor", run.executor?.display_name ?? run.executor?.uid],
    ["source", run.source],
    ["schedule", run.schedule?.schedule_name],
    ["parent", run.parent_run_id],
    ["model", config?.model_id],
    ["environment", config?.environment_id],
    ["skill", config?.skill_spec],
    ["repositories", config?.repositories?.map(({ url }) => url).join("\n")],
    [
      "metadata",
      run.metadata &&
        Object.entries(run.metadata)
          .map((pair) => pair.join("="))
          .join("\n"),
    ],
    ["conversation", run.conversation_id],
    ["artifacts", run.artifacts?.length],
    ["link", run.session_link],
    ["prompt", run.prompt],
  ]);
}

function followCommand(context: Context) {
  const command = new Command("follow")
    .description("show what happens in a run until it has ended; the exit code is its outcome")
    .argument("<run>", "its id")
    .option("--verbose", "show what commands print whole")
    .addOption(interruptOption())
    .action(async (id, options) => followRun(context, await context.client(), id, options));
  return withExamples(
    command,
    "runyard runs follow $id",
    "runyard runs follow $id --json | jq -r 'select(.type) | .type'",
  );
}

function followupCommand(context: Context) {
  const command = new Command("followup")
    .description("a message for the agent, also after the run has ended: it is taken up again")
    .argument("<run>", "its id")
    .argument("[message]", "the message; `-` reads it from standard input; none: go on from where it stopped")
    .option("-f, --follow", "follow the run from here")
    .option("--verbose", "with --follow: show what commands print whole")
    .addOption(interruptOption())
    .action(async (id, given, options) => {
      const message = given === "-" ? await context.shell.readInput() : given;
      const client = await context.client();
      const answer = await client.runs.sendFollowup(id, defined({ message }));
      if (options.follow === true) return followRun(context, client, id, options);
      context.show(answer, () => context.say("sent"));
    });
  return withExamples(command, 'runyard runs followup $id "Use the staging database" --follow');
}

function cancelCommand(context: Context) {
  const command = new Command("cancel")
    .description("stop runs and the processes of their agents; a run that has ended stays as it is")
    .argument("<run...>", "their ids")
    .option("--force", "also where it runs on a self-hosted worker, in a CI job, or is being prepared")
    .action(async (ids, { force }) => {
      const client = await context.client();
      for (const id of ids) await cancelRun(client, id, defined({ force }));
      context.show({ cancelled: ids }, () => context.say("cancelled"));
    });
  return withExamples(command, "runyard runs cancel $id", "runyard runs cancel $one $other --force");
}
