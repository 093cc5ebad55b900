import { Command, Option } from "@commander-js/extra-typings";
import { APIError, type Runyard } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { EXIT } from "../exit-code.ts";
import { Problem, usage } from "../problem.ts";
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
  archived: "false" | "true" | "all",
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
  const command = createFilteredCommand("delete")
    .description("delete runs that have ended, by id or by filters, with the runs below them; this cannot be undone")
    .argument("[run...]", "run ids")
    .option("-y, --yes", "with filters: delete the matching runs without confirmation")
    .action(async (ids, { yes = false, ...options }) => {
      const client = await context.client();
      const chosen = await chooseRuns(client, ids, options, "all");
      if (ids.length === 0) await confirmDeletion(context, chosen.length, yes);
      const { deleted, refused } = await deleteRuns(client, chosen, ids.length > 0);
      for (const { run_id, message } of refused) context.note(`${run_id}: ${message}`);
      context.show({ deleted, ...(refused.length === 0 ? {} : { refused }) }, () =>
        context.say(`deleted: ${deleted.length}`),
      );
      if (refused.length > 0) context.exitCode = EXIT.failed;
    });
  return withExamples(
    command,
    "runyard runs delete $id",
    "runyard runs delete --task-status failed --before 30d --yes",
  );
}

async function confirmDeletion({ shell }: Context, count: number, yes: boolean): Promise<void> {
  if (yes || count === 0) return;
  if (!shell.canAsk) throw usage(`${count} runs match.`, "Delete them with --yes.");
  const response = await shell.ask(`Delete ${count} runs? [y/N] `);
  if (response?.trim().toLowerCase() !== "y") throw new Problem("Nothing was deleted.");
}

/**
 * Deletes runs. Of those that matched filters, one that is refused stops nothing, and one may be gone already, with a run above it.
 * @param stops whether an error ends the command
 */
async function deleteRuns(client: Runyard, ids: readonly string[], stops: boolean) {
  const deleted: string[] = [];
  const refused: { run_id: string; message: string }[] = [];
  for (const id of ids) {
    try {
      await client.runs.delete(id);
      deleted.push(id);
    } catch (error) {
      const isRefusal = error instanceof APIError && [403, 404, 409].includes(error.status ?? 0);
      if (stops || !isRefusal) throw error;
      if (error.status === 404) deleted.push(id);
      else refused.push({ run_id: id, message: error.detail ?? error.message });
    }
  }
  return { deleted, refused };
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
