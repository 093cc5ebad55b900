import { Command } from "@commander-js/extra-typings";
import type { HandoffAttachments, TimelineEvent } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { type Column, printList, printRows } from "../table.ts";
import { withExamples } from "./examples.ts";

export function timelineCommand(context: Context) {
  const command = new Command("timeline")
    .description("list the timeline of a run, oldest first: its preparation, its setup and its end")
    .argument("<run>", "run id")
    .option("--all", "list all; with --json, print one event per line")
    .action(async (id, { all }) => {
      const client = await context.client();
      await printList(context, client.runs.timeline(id), timelineColumns(context), {
        all,
        none: "The run has no events.",
      });
    });
  return withExamples(command, "runyard runs timeline $id --all");
}

const timelineColumns = (context: Context): readonly Column<TimelineEvent>[] => [
  { name: "time", of: ({ occurred_at }) => context.timeText(occurred_at) },
  { name: "event", of: ({ event_type }) => event_type },
  { name: "details", of: ({ payload }) => (payload === undefined ? "" : JSON.stringify(payload)) },
];

export function findCommand(context: Context) {
  const command = new Command("find")
    .description("print the id of the newest run that refers to an issue, a pull request or another URL")
    .argument("<url>", "URL as the run has it")
    .action(async (url) => {
      const found = await (await context.client()).runs.findByReference({ url });
      context.show(found, () => context.say(found.run_id));
    });
  return withExamples(command, "runyard runs find https://github.com/acme/shop/pull/7");
}

export function snapshotCommand(context: Context) {
  const command = new Command("snapshot")
    .description("list the snapshot files of the last execution of a run, with URLs that expire")
    .argument("<run>", "run id")
    .action(async (id) => {
      const snapshot = await (await context.client()).runs.handoffAttachments(id);
      context.show(snapshot, () => {
        if (snapshot.attachments.length === 0) context.note("The run has no snapshot.");
        else printRows(context, snapshot.attachments, SNAPSHOT_COLUMNS);
      });
    });
  return withExamples(command, "runyard runs snapshot $id");
}

const SNAPSHOT_COLUMNS: readonly Column<HandoffAttachments["attachments"][number]>[] = [
  { name: "file", of: ({ filename }) => filename },
  { name: "url", of: ({ download_url: url }) => url },
];

export function attachmentsCommand(context: Context) {
  const command = new Command("attachments")
    .description("print URLs, which expire, of files that were attached to a run or to its follow-ups")
    .argument("<run>", "run id")
    .argument("<attachments...>", "ids of attachments")
    .action(async (id, ids) => {
      const found = await (await context.client()).runs.downloadAttachments(id, { attachment_ids: ids });
      context.show(found, () => {
        for (const { download_url: url } of found.attachments) context.say(url);
      });
    });
  return withExamples(command, "runyard runs attachments $id $attachment");
}
