import { Command, Option } from "@commander-js/extra-typings";
import type { Runyard } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { Problem } from "../problem.ts";
import { withExamples } from "./examples.ts";
import { createFilteredCommand, type FilterOptions, toFilters } from "./run-filters.ts";

export function archiveCommand(context: Context) {
  const command = createFilteredCommand("archive")
    .description("archive runs, by their ids or by filters: lists leave them out")
    .argument("[run...]", "run ids")
    .action(async (ids, options) => {
      const client = await context.client();
      const archived = await chooseRuns(client, ids, options, "false");
      for (const id of archived) await client.runs.archive(id);
      context.show({ archived }, () => context.say(`archived: ${archived.length}`));
    });
  return withExamples(command, "runyard runs archive $id", "runyard runs archive --state SUCCEEDED --before 30d");
}

export function unarchiveCommand(context: Context) {
  const command = createFilteredCommand("unarchive")
    .description("return archived runs to the lists, by their ids or by filters")
    .argument("[run...]", "run ids")
    .action(async (ids, options) => {
      const client = await context.client();
      const unarchived = await chooseRuns(client, ids, options, "true");
      for (const id of unarchived) await client.runs.unarchive(id);
      context.show({ unarchived }, () => context.say(`unarchived: ${unarchived.length}`));
    });
  return withExamples(command, "runyard runs unarchive $id", "runyard runs unarchive --schedule nightly");
}

/** The runs that are named, or those that match the filters. They are listed before one of them is changed. */
async function chooseRuns(
  client: Runyard,
  ids: readonly string[],
  options: FilterOptions,
  archived: "false" | "true",
): Promise<readonly string[]> {
  const filters = defined(await toFilters(client, options));
  const isFiltered = Object.keys(filters).length > 0;
  if (ids.length > 0 && isFiltered) throw new Problem("Give run ids or filters, not both.");
  if (ids.length > 0) return ids;
  if (!isFiltered) throw new Problem("Give run ids, or at least one filter such as --state SUCCEEDED.");
  const found: string[] = [];
  for await (const { run_id } of client.runs.list({ ...filters, archived, limit: 100 })) found.push(run_id);
  return found;
}

export function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete runs that have ended, with the runs below them; this cannot be undone")
    .argument("<run...>", "run ids")
    .action(async (ids) => {
      const client = await context.client();
      for (const id of ids) await client.runs.delete(id);
      context.show({ deleted: ids }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard runs delete $id");
}

export function shareCommand(context: Context) {
  const command = new Command("share")
    .description("show a run to everybody who has the link, and print it")
    .argument("<run>", "run id")
    .addOption(new Option("--off", "take that back"))
    .action(async (id, { off }) => {
      const client = await context.client();
      const shared = await client.runs.share(id, { public_access: off === true ? null : "VIEWER" });
      context.show(shared, () => context.say(off === true ? "no longer shared" : (shared.session_link ?? "shared")));
    });
  return withExamples(command, "runyard runs share $id", "runyard runs share $id --off");
}
