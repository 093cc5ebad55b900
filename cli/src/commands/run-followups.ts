import { Command } from "@commander-js/extra-typings";
import type { FollowupItem, Runyard } from "../../../clients/typescript/src/index.ts";
import { uploadForFollowup } from "../attachments.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { followRun } from "../follow/follow.ts";
import { repeated } from "../options.ts";
import { type Column, printList } from "../table.ts";
import { withExamples } from "./examples.ts";
import { interruptOption } from "./run.ts";

/** What is printed for the outcomes that services name; older ones name none. */
export const OUTCOMES: Readonly<Record<string, string>> = {
  queue_pending: "sent; it waits in the queue of the run",
  queued_prompt: "sent; the agent gets it with its first turn",
  live_session: "sent to the running agent",
  handoff_execution: "sent; the run continues",
};

/** `runyard runs followup`: sends a message to an agent. */
export function followupCommand(context: Context) {
  const command = new Command("followup")
    .description("send a message to the agent; a run that has ended is resumed")
    .argument("<run>", "run id")
    .argument(
      "[message]",
      "message; `-` reads it from standard input; if omitted, the agent continues where it stopped",
    )
    .option("--attach <file>", "file to send with the message; repeatable", repeated)
    .option("-f, --follow", "follow the run from this point")
    .option("--verbose", "with --follow: print the full output of commands")
    .addOption(interruptOption())
    .action(async (id, given, options) => {
      const message = given === "-" ? await context.shell.readInput() : given;
      const client = await context.client();
      const after = options.follow === true ? await findLastEvent(client, id) : undefined;
      const attachments = options.attach && (await uploadForFollowup(client, id, options.attach));
      const response = await client.runs.sendFollowup(id, defined({ message, attachments }));
      if (options.follow === true) return followRun(context, client, id, { ...options, after });
      context.show(response, () => context.say(OUTCOMES[response.outcome] ?? "sent"));
    });
  return withExamples(
    command,
    'runyard runs followup $id "Use the staging database" --follow',
    'runyard runs followup $id "This is the log" --attach error.log',
  );
}

/** Finds the sequence number of the last event that a run has so far. */
export async function findLastEvent(client: Runyard, runId: string): Promise<number> {
  for (let after = 0; ; ) {
    const { events, next, ended } = await client.runs.listEvents(runId, { after, wait: 0 });
    if (ended || events.length === 0) return next;
    after = next;
  }
}

/** `runyard runs followups …`: the messages that were sent to an agent. */
export function followupsCommand(context: Context) {
  return new Command("followups")
    .description("list the follow-ups of a run, and change those that the agent has not read yet")
    .addCommand(listCommand(context), { isDefault: true })
    .addCommand(editCommand(context))
    .addCommand(removeCommand(context))
    .addCommand(promoteCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list the follow-ups of a run, and which of them the agent has not read yet")
    .argument("<run>", "run id")
    .option("--all", "list all; with --json, print one follow-up per line")
    .action(async (id, { all }) => {
      const client = await context.client();
      await printList(context, client.runs.listFollowups(id), columns(context), {
        all,
        none: "The run has no follow-ups.",
      });
    });
  return withExamples(
    command,
    "runyard runs followups list $id",
    `runyard runs followups list $id --json | jq '.followups[] | select(.state == "pending") | .message'`,
  );
}

const FOLLOWUP = "id of the follow-up, such as followup-1";

function editCommand(context: Context) {
  const command = new Command("edit")
    .description("replace the message of a follow-up that the agent has not read yet")
    .argument("<run>", "run id")
    .argument("<followup>", FOLLOWUP)
    .argument("<message>", "message; `-` reads it from standard input")
    .action(async (run, followup, given) => {
      const message = given === "-" ? await context.shell.readInput() : given;
      const edited = await (await context.client()).runs.updateFollowup(run, followup, { message });
      context.show(edited, () => context.say("edited"));
    });
  return withExamples(command, 'runyard runs followups edit $id followup-2 "Use the staging database"');
}

function removeCommand(context: Context) {
  const command = new Command("remove")
    .alias("delete")
    .description("remove a follow-up that the agent has not read yet")
    .argument("<run>", "run id")
    .argument("<followup>", FOLLOWUP)
    .action(async (run, followup) => {
      await (await context.client()).runs.deleteFollowup(run, followup);
      context.show({ deleted: followup }, () => context.say("removed"));
    });
  return withExamples(command, "runyard runs followups remove $id followup-2");
}

function promoteCommand(context: Context) {
  const command = new Command("promote")
    .description("make a follow-up the next message, and interrupt the current turn for it")
    .argument("<run>", "run id")
    .argument("<followup>", FOLLOWUP)
    .action(async (run, followup) => {
      const promoted = await (await context.client()).runs.promoteFollowup(run, followup);
      context.show(promoted, () => context.say("promoted; it is the next message"));
    });
  return withExamples(command, "runyard runs followups promote $id followup-2");
}

const columns = (context: Context): readonly Column<FollowupItem>[] => [
  { name: "follow-up", of: ({ followup_id }) => followup_id },
  { name: "state", of: ({ state }) => state },
  { name: "sent", of: ({ created_at }) => context.timeText(created_at) },
  { name: "by", of: ({ created_by }) => created_by?.display_name ?? created_by?.uid },
  { name: "message", of: ({ message }) => message },
];
