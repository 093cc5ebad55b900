import { Command, type CommandUnknownOpts, InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { RUN_STATES, type RunItem, TASK_STATUSES, type TaskStatus } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { cancelRun, followRun } from "../follow/follow.ts";
import { environmentUid, scheduleId } from "../names.ts";
import { pairs, runSource, SOURCE_TEXT, time, wholeNumber } from "../options.ts";
import { durationText, stateText } from "../style.ts";
import { type Column, printFields, printList, timeText } from "../table.ts";
import { usageText } from "../usage.ts";
import { withExamples } from "./examples.ts";
import { interruptOption } from "./run.ts";
import { diffCommand, openPrCommand } from "./run-changes.ts";
import { followupCommand, followupsCommand } from "./run-followups.ts";
import { artifactsCommand, conversationCommand, responseCommand, transcriptCommand } from "./run-results.ts";

/** `runyard runs …`: runs that are there. */
export function runsCommand(context: Context): CommandUnknownOpts {
  return new Command("runs")
    .description("list, follow, steer and cancel runs, and download their results")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(followCommand(context))
    .addCommand(followupCommand(context))
    .addCommand(followupsCommand(context))
    .addCommand(cancelCommand(context))
    .addCommand(responseCommand(context))
    .addCommand(conversationCommand(context))
    .addCommand(transcriptCommand(context))
    .addCommand(artifactsCommand(context))
    .addCommand(diffCommand(context))
    .addCommand(openPrCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list the runs that you can see, latest first")
    .option("--state <state>", "only runs in this state; repeatable", states)
    .option("--task-status <status>", TASK_STATUS_TEXT, taskStatuses)
    .option("--search <text>", "only runs whose title, skill or prompt matches, tolerating typos, or a run's id or URL")
    .option("--metadata <name=value>", "only runs with this metadata; repeatable", pairs)
    .option("--env <uid|name>", "only runs in this environment")
    .option("--schedule <id|name>", "only runs of this schedule")
    .option("--trigger <uid>", "only runs of this trigger")
    .option("--automation <id>", "only runs of this trigger, or with this metadata automation_id")
    .option("--skill <spec>", "only runs from this skill")
    .option("--model <id>", "only runs with this model")
    .option("--creator <uid>", "only runs created by this account")
    .option("--ancestor <run>", "only descendants of this run")
    .option("--source <source>", `${SOURCE_TEXT}; repeatable`, runSources)
    .option("--after <time>", "only runs created after this time: a date, or an age such as 90m, 24h, 7d", time)
    .option("--before <time>", "only runs created before this time", time)
    .addOption(
      new Option("--sort <by>", "the order")
        .choices(["updated_at", "created_at", "title", "agent"])
        .default("updated_at"),
    )
    .option("--ascending", "oldest first")
    .option("--limit <n>", "maximum number of runs", wholeNumber(1, 500))
    .option("--all", "list all; with --json, print one run per line")
    .action(async (options) => {
      const client = await context.client();
      const query = defined({
        state: options.state,
        task_status: options.taskStatus,
        q: options.search,
        metadata: options.metadata,
        environment_id: options.env === undefined ? undefined : await environmentUid(client, options.env),
        schedule_id: options.schedule === undefined ? undefined : await scheduleId(client, options.schedule),
        trigger_id: options.trigger,
        automation_id: options.automation,
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

/** Parses states in any case, and rejects unknown ones. */
function states(text: string, earlier: readonly RunItem["state"][] = []): RunItem["state"][] {
  const state = RUN_STATES.find((one) => one === text.toUpperCase());
  if (state === undefined) throw new InvalidArgumentError(`Allowed choices are ${RUN_STATES.join(", ")}.`);
  return [...earlier, state];
}

const TASK_STATUS_TEXT = `only tasks with this status: ${TASK_STATUSES.join(", ")}; repeatable`;

function taskStatuses(text: string, earlier: readonly TaskStatus[] = []): TaskStatus[] {
  const status = TASK_STATUSES.find((one) => one === text.toLowerCase());
  if (status === undefined) throw new InvalidArgumentError(`Allowed choices are ${TASK_STATUSES.join(", ")}.`);
  return [...earlier, status];
}

const runSources = (text: string, earlier: readonly string[] = []): string[] => [...earlier, runSource(text)];

const columns = ({ style }: Context): readonly Column<RunItem>[] => [
  { name: "run", of: (run) => run.run_id },
  { name: "state", of: (run) => run.state, paint: (text, run) => text.replace(run.state, stateText(style, run.state)) },
  { name: "created", of: (run) => timeText(run.created_at) },
  { name: "source", of: (run) => run.source },
  { name: "title", of: (run) => run.title },
];

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show a run")
    .argument("<run>", "run id")
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
    ["run time", run.run_time && durationText(run.run_time)],
    ["usage", usageText(run.request_usage)],
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
    .description("print the events of a run until it ends; the exit code is its outcome")
    .argument("<run>", "run id")
    .option("--verbose", "print the full output of commands")
    .addOption(interruptOption())
    .action(async (id, options) => followRun(context, await context.client(), id, options));
  return withExamples(
    command,
    "runyard runs follow $id",
    "runyard runs follow $id --json | jq -r 'select(.type) | .type'",
  );
}

function cancelCommand(context: Context) {
  const command = new Command("cancel")
    .description("cancel runs and stop their processes; has no effect on runs that have ended")
    .argument("<run...>", "run ids")
    .option("--force", "also cancel runs on self-hosted workers, in CI jobs, or in preparation")
    .action(async (ids, { force }) => {
      const client = await context.client();
      const cancelled: string[] = [];
      for (const id of ids) {
        const state = await cancelRun(client, id, defined({ force }));
        if (state === undefined) cancelled.push(id);
        else context.note(`${id} has ended already: ${state}.`);
      }
      context.show({ cancelled }, () => cancelled.length > 0 && context.say("cancelled"));
    });
  return withExamples(command, "runyard runs cancel $id", "runyard runs cancel $one $other --force");
}
