import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { AuditEvent } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { time, wholeNumber } from "../options.ts";
import { printList } from "../table.ts";
import { withExamples } from "./examples.ts";

/** `runyard audit …`: the audit log of the team. */
export function auditCommand(context: Context): CommandUnknownOpts {
  return new Command("audit")
    .description("read the audit log of your team: who changed what, when and from where; for admins")
    .addCommand(listCommand(context))
    .addCommand(exportCommand(context));
}

/** Creates a command with the filters of the log as options. */
const commandWithFilters = (name: string) =>
  new Command(name)
    .option("--from <time>", "only events since this time: a date, or an age such as 90m, 24h, 7d", time)
    .option("--to <time>", "only events before this time", time)
    .option("--actor <uid>", "only events of this account")
    .option("--action <action>", "only this action or those that begin with it, such as keys.delete or keys")
    .option("--target <uid>", "only events of this resource; for a run, with its follow-ups");

function listCommand(context: Context) {
  const command = commandWithFilters("list")
    .alias("ls")
    .description("list events of the audit log, newest first")
    .option("--limit <n>", "events of the page, at most 500", wholeNumber(1, 500), 50)
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all, ...query }) => {
      const client = await context.client();
      await printList<AuditEvent, Awaited<ReturnType<typeof client.audit.list>>["body"]>(
        context,
        client.audit.list(defined(query)),
        [
          { name: "time", of: ({ at }) => context.timeText(at) },
          { name: "actor", of: ({ actor }) => actor.email ?? actor.display_name ?? actor.uid },
          { name: "via", of: ({ via, key_suffix: suffix }) => (suffix === undefined ? via : `${via} …${suffix}`) },
          { name: "action", of: ({ action, refused }) => (refused === true ? `${action} (refused)` : action) },
          { name: "target", of: ({ target }) => `${target.type} ${target.name ?? target.uid}` },
        ],
        { all, none: "There are no such events here." },
      );
    });
  return withExamples(command, "runyard audit list", "runyard audit list --from 7d --action keys");
}

function exportCommand(context: Context) {
  const command = commandWithFilters("export")
    .description("print all events as JSON Lines, newest first")
    .action(async (query) => {
      const client = await context.client();
      for await (const event of client.audit.list(defined(query))) context.printJsonLine(event);
    });
  return withExamples(command, "runyard audit export --from 2026-01-01 > audit.jsonl");
}
