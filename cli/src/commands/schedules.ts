import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { ScheduleItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { describeFailureLimit, pauseAfterOption } from "../failure-limit.ts";
import { agentUid, scheduleId } from "../names.ts";
import { pairs } from "../options.ts";
import { buildConfig } from "../run-config.ts";
import { printFields, printList } from "../table.ts";
import { commandWithConfig } from "./config-options.ts";
import { withExamples } from "./examples.ts";

/** `runyard schedules …`: prompts that run whenever their cron says. */
export function schedulesCommand(context: Context): CommandUnknownOpts {
  return new Command("schedules")
    .description("manage schedules: prompts that run at the times of a cron expression")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(createCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(pauseCommand(context))
    .addCommand(resumeCommand(context))
    .addCommand(runNowCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(ticksCommand(context));
}

const ID = "schedule id or name";
const OVERLAPS = ["allow", "skip", "cancel_previous"] as const;
const MODES = ["normal", "plan", "orchestrate"] as const;

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list the schedules that you can see, by name")
    .option("--all", "list all; with --json, print one per line")
    .action(async (options) => {
      const client = await context.client();
      await printList(
        context,
        client.schedules.list(),
        [
          { name: "id", of: ({ id }) => id },
          { name: "on", of: ({ enabled }) => enabled },
          { name: "cron", of: ({ cron_schedule }) => cron_schedule },
          { name: "zone", of: ({ time_zone }) => time_zone },
          { name: "next", of: ({ history }) => context.timeText(history.next_run) },
          { name: "name", of: ({ name }) => name },
        ],
        { all: options.all, none: "There are no schedules." },
      );
    });
  return withExamples(command, "runyard schedules list");
}

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show a schedule and its latest runs")
    .argument("<schedule>", ID)
    .action(async (given) => {
      const client = await context.client();
      const schedule = await client.schedules.retrieve(await scheduleId(client, given));
      context.show(schedule, () => printSchedule(context, schedule));
    });
  return withExamples(command, 'runyard schedules get "Nightly tests"');
}

function printSchedule(context: Context, schedule: ScheduleItem): void {
  printFields(context, [
    ["id", schedule.id],
    ["name", schedule.name],
    ["enabled", schedule.enabled],
    ["cron", `${schedule.cron_schedule} (${schedule.time_zone})`],
    ["overlap", schedule.overlap],
    ["next", context.timeText(schedule.history.next_run) ?? "-"],
    ["last", context.timeText(schedule.history.last_ran) ?? "-"],
    ["failing since", context.timeText(schedule.failing_since)],
    ["pauses after", describeFailureLimit(schedule.pause_after_failures)],
    ["last error", schedule.last_spawn_error ?? undefined],
    ["model error", schedule.model_error],
    ["secret error", schedule.secret_error],
    ["agent", schedule.agent_uid],
    ["environment", schedule.environment?.name],
    ["model", schedule.agent_config?.model_id],
    ["runs", schedule.recent_runs?.map(({ run_id, state }) => `${run_id}  ${state}`).join("\n") || undefined],
    ["prompt", schedule.prompt],
  ]);
}

function createCommand(context: Context) {
  const command = commandWithConfig("create")
    .description("create a schedule")
    .requiredOption("--name <name>", "name")
    .requiredOption(
      "--cron <fields>",
      "cron expression: minute, hour, day, month, day of the week; or a nickname such as @daily",
    )
    .option("--prompt <text>", "task for the agent; `-` reads it from standard input; required unless --skill is given")
    .option("--time-zone <zone>", "time zone, such as Europe/Berlin (default: UTC)")
    .addOption(
      new Option("--overlap <rule>", "what happens to a firing while an earlier run is active").choices(OVERLAPS),
    )
    .option("--agent <uid|name>", "team agent to run as")
    .addOption(new Option("--mode <mode>", "how to work").choices(MODES))
    .option("--metadata <name=value>", "metadata of its runs; repeatable", pairs)
    .addOption(pauseAfterOption())
    .option("--personal", "make the schedule visible only to you, not to your team")
    .option("--paused", "create it paused")
    .action(async (options) => {
      const client = await context.client();
      const body = defined({
        name: options.name,
        cron_schedule: options.cron,
        prompt: await readText(context, options.prompt),
        time_zone: options.timeZone,
        overlap: options.overlap,
        agent_config: await buildConfig(client, options),
        agent_uid: options.agent === undefined ? undefined : await agentUid(client, options.agent),
        mode: options.mode,
        metadata: options.metadata,
        pause_after_failures: options.pauseAfter,
        team: options.personal === true ? false : undefined,
        enabled: options.paused === true ? false : undefined,
      });
      const created = await client.schedules.create(body);
      context.show(created, () => printSchedule(context, created));
    });
  return withExamples(
    command,
    'runyard schedules create --name "Nightly tests" --cron "0 3 * * 1-5" --time-zone Europe/Berlin --prompt "Run the tests" --env backend',
    "runyard schedules create --name Triage --cron @hourly --overlap skip --prompt - < triage.md",
  );
}

function updateCommand(context: Context) {
  const command = commandWithConfig("update")
    .description(
      "update a schedule; omitted options keep their value, and configuration options replace the configuration",
    )
    .argument("<schedule>", ID)
    .option("--name <name>", "new name")
    .option("--cron <fields>", "new cron expression")
    .option("--prompt <text>", "task for the agent; `-` reads it from standard input")
    .option("--time-zone <zone>", "time zone")
    .addOption(
      new Option("--overlap <rule>", "what happens to a firing while an earlier run is active").choices(OVERLAPS),
    )
    .option("--agent <uid|name>", "team agent to run as")
    .addOption(new Option("--mode <mode>", "how to work").choices(MODES))
    .option("--metadata <name=value>", "metadata of its runs; repeatable", pairs)
    .addOption(pauseAfterOption())
    .action(async (given, options) => {
      const client = await context.client();
      const id = await scheduleId(client, given);
      const before = await client.schedules.retrieve(id);
      const body = defined({
        name: options.name ?? before.name,
        cron_schedule: options.cron ?? before.cron_schedule,
        enabled: before.enabled,
        prompt: (await readText(context, options.prompt)) ?? (before.prompt === "" ? undefined : before.prompt),
        time_zone: options.timeZone,
        overlap: options.overlap,
        agent_config: await buildConfig(client, options),
        agent_uid: options.agent === undefined ? undefined : await agentUid(client, options.agent),
        mode: options.mode,
        metadata: options.metadata,
        pause_after_failures: options.pauseAfter,
      });
      const changed = await client.schedules.update(id, body);
      context.show(changed, () => printSchedule(context, changed));
    });
  return withExamples(command, 'runyard schedules update "Nightly tests" --cron "0 4 * * *"');
}

function pauseCommand(context: Context) {
  const command = new Command("pause")
    .description("pause a schedule until it is resumed")
    .argument("<schedule>", ID)
    .action(async (given) => {
      const client = await context.client();
      const schedule = await client.schedules.pause(await scheduleId(client, given));
      context.show(schedule, () => context.say(`${schedule.name} is paused`));
    });
  return withExamples(command, 'runyard schedules pause "Nightly tests"');
}

function resumeCommand(context: Context) {
  const command = new Command("resume")
    .description("resume a schedule, from its next firing")
    .argument("<schedule>", ID)
    .action(async (given) => {
      const client = await context.client();
      const schedule = await client.schedules.resume(await scheduleId(client, given));
      context.show(schedule, () =>
        context.say(`${schedule.name} fires next at ${context.timeText(schedule.history.next_run)}`),
      );
    });
  return withExamples(command, 'runyard schedules resume "Nightly tests"');
}

function runNowCommand(context: Context) {
  const command = new Command("run")
    .description("start a run of a schedule now, in addition to the planned ones")
    .argument("<schedule>", ID)
    .action(async (given) => {
      const client = await context.client();
      const created = await client.schedules.run(await scheduleId(client, given));
      context.show(created, () => context.say(created.run_id));
    });
  return withExamples(command, 'runyard runs follow $(runyard schedules run "Nightly tests")');
}

function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete a schedule; its runs are kept")
    .argument("<schedule>", ID)
    .action(async (given) => {
      const client = await context.client();
      const response = await client.schedules.delete(await scheduleId(client, given));
      context.show(response, () => context.say("deleted"));
    });
  return withExamples(command, 'runyard schedules delete "Nightly tests"');
}

function ticksCommand(context: Context) {
  const command = new Command("ticks")
    .description("list the outcomes of planned firings, latest first")
    .argument("<schedule>", ID)
    .option("--all", "list all; with --json, print one per line")
    .action(async (given, options) => {
      const client = await context.client();
      await printList(
        context,
        client.schedules.ticks(await scheduleId(client, given)),
        [
          { name: "scheduled", of: (tick) => context.timeText(tick.scheduled_at) },
          { name: "outcome", of: (tick) => tick.outcome },
          { name: "run", of: (tick) => tick.run_id },
          { name: "reason", of: (tick) => tick.reason },
        ],
        { all: options.all, none: "It has not fired yet." },
      );
    });
  return withExamples(command, 'runyard schedules ticks "Nightly tests"');
}

async function readText(context: Context, given: string | undefined): Promise<string | undefined> {
  return given === "-" ? context.shell.readInput() : given;
}
