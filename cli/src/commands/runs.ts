import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { cancelRun, followRun } from "../follow/follow.ts";
import { wholeNumber } from "../options.ts";
import { durationText, stateText } from "../style.ts";
import { type Column, printFields, printList } from "../table.ts";
import { usageText } from "../usage.ts";
import { withExamples } from "./examples.ts";
import { interruptOption } from "./run.ts";
import { approveCommand, denyCommand } from "./run-approvals.ts";
import { archiveCommand, deleteCommand, shareCommand, unarchiveCommand } from "./run-archive.ts";
import { diffCommand, openPrCommand } from "./run-changes.ts";
import { createFilteredCommand, toFilters } from "./run-filters.ts";
import { followupCommand, followupsCommand } from "./run-followups.ts";
import { attachmentsCommand, findCommand, snapshotCommand, timelineCommand } from "./run-records.ts";
import { artifactsCommand, conversationCommand, responseCommand, transcriptCommand } from "./run-results.ts";

/** `runyard runs …`: runs that are there. */
export function runsCommand(context: Context): CommandUnknownOpts {
  return new Command("runs")
    .description("list, follow, steer, cancel, archive, share and delete runs, and download their results")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(followCommand(context))
    .addCommand(followupCommand(context))
    .addCommand(followupsCommand(context))
    .addCommand(approveCommand(context))
    .addCommand(denyCommand(context))
    .addCommand(interruptCommand(context))
    .addCommand(cancelCommand(context))
    .addCommand(archiveCommand(context))
    .addCommand(unarchiveCommand(context))
    .addCommand(shareCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(responseCommand(context))
    .addCommand(conversationCommand(context))
    .addCommand(transcriptCommand(context))
    .addCommand(artifactsCommand(context))
    .addCommand(timelineCommand(context))
    .addCommand(findCommand(context))
    .addCommand(snapshotCommand(context))
    .addCommand(attachmentsCommand(context))
    .addCommand(diffCommand(context))
    .addCommand(openPrCommand(context));
}

function listCommand(context: Context) {
  const command = createFilteredCommand("list")
    .alias("ls")
    .description("list the runs that you can see, latest first")
    .addOption(
      new Option("--archived <which>", "archived runs, or runs that are not archived, or all")
        .choices(["false", "true", "all"])
        .default("false"),
    )
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
        ...(await toFilters(client, options)),
        archived: options.archived === "false" ? undefined : options.archived,
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

const columns = (context: Context): readonly Column<RunItem>[] => [
  { name: "run", of: (run) => run.run_id },
  {
    name: "state",
    of: (run) => run.state,
    paint: (text, run) => text.replace(run.state, stateText(context.style, run.state)),
  },
  { name: "created", of: (run) => context.timeText(run.created_at) },
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
    ["waits for", run.waiting_for],
    ["message", run.status_message?.message],
    ["approval", run.approval && `${run.approval.approval_id}: ${run.approval.tool} ${run.approval.arguments}`],
    ["title", run.title],
    ["created", context.timeText(run.created_at)],
    ["started", context.timeText(run.started_at)],
    ["updated", context.timeText(run.updated_at)],
    ["finished", run.finished_at ? context.timeText(run.finished_at) : undefined],
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
    ["follow-ups", (run.pending_followups ?? 0) > 0 ? `${run.pending_followups} pending` : undefined],
    ["artifacts", run.artifacts?.length],
    ["archived", run.archived === true ? "yes" : undefined],
    ["public access", config?.session_sharing?.public_access],
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

function interruptCommand(context: Context) {
  const command = new Command("interrupt")
    .description("end the current turn of a run; the run then waits for a follow-up")
    .argument("<run>", "run id")
    .action(async (id) => {
      const client = await context.client();
      const interrupted = await client.runs.interrupt(id);
      context.show(interrupted, () => context.say("interrupted"));
    });
  return withExamples(command, "runyard runs interrupt $id");
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
