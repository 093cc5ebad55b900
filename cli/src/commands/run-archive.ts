import { Command, Option } from "@commander-js/extra-typings";
import type { DeleteRunsResponse, MatchingRunsRequest, Runyard } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { EXIT } from "../exit-code.ts";
import { Problem, usage } from "../problem.ts";
import { withExamples } from "./examples.ts";
import { createFilteredCommand, type FilterOptions, toFilters } from "./run-filters.ts";

export function archiveCommand(context: Context) {
  const command = withAll(createFilteredCommand("archive"))
    .description("archive runs, by their ids or by filters: lists leave them out")
    .argument("[run...]", "run ids")
    .action(async (ids, options) => {
      const client = await context.client();
      const selection = await selectRuns(client, ids, options);
      const results = isIds(selection)
        ? await eachRun(selection, (id) => client.runs.archive(id))
        : await allPages(selection, (body) => client.runs.archiveMany(body), "archived");
      report(context, "archived", results);
    });
  return withExamples(command, "runyard runs archive $id", "runyard runs archive --state SUCCEEDED --before 30d");
}

export function unarchiveCommand(context: Context) {
  const command = withAll(createFilteredCommand("unarchive"))
    .description("return archived runs to the lists, by their ids or by filters")
    .argument("[run...]", "run ids")
    .action(async (ids, options) => {
      const client = await context.client();
      const selection = await selectRuns(client, ids, options);
      const results = isIds(selection)
        ? await eachRun(selection, (id) => client.runs.unarchive(id))
        : await allPages(selection, (body) => client.runs.unarchiveMany(body), "unarchived");
      report(context, "unarchived", results);
    });
  return withExamples(command, "runyard runs unarchive $id", "runyard runs unarchive --schedule nightly");
}

export function deleteCommand(context: Context) {
  const command = withAll(createFilteredCommand("delete"))
    .description("delete runs that have ended, by id or by filters, with the runs below them; this cannot be undone")
    .argument("[run...]", "run ids")
    .option("-y, --yes", "with filters: delete the matching runs without confirmation")
    .action(async (ids, { yes = false, ...options }) => {
      const client = await context.client();
      const selection = await selectRuns(client, ids, options);
      if (isIds(selection)) {
        report(context, "deleted", await eachRun(selection, (id) => client.runs.delete(id)));
        return;
      }
      // Archived runs are deleted too, since nobody sees them in the lists any more.
      const body: MatchingRuns = selection.all ? selection : { filter: { ...selection.filter, archived: "all" } };
      if (!yes) await confirmDeletion(context, client, body);
      report(context, "deleted", await allPages(body, (page) => client.runs.deleteMany(page), "deleted"));
    });
  return withExamples(
    command,
    "runyard runs delete $id",
    "runyard runs delete --task-status failed --before 30d --yes",
  );
}

const withAll = <C extends ReturnType<typeof createFilteredCommand>>(command: C) =>
  command.option("--all", "all runs, in place of filters");

type RunFilter = ReturnType<typeof defined<Awaited<ReturnType<typeof toFilters>>>>;
type MatchingRuns =
  | { readonly all: true; readonly filter?: never }
  | { readonly filter: RunFilter & { archived?: "all" }; readonly all?: never };

const isIds = (selection: readonly string[] | MatchingRuns): selection is readonly string[] => Array.isArray(selection);

/** The runs that are named, or the filters of those that a request is about. */
async function selectRuns(
  client: Runyard,
  ids: readonly string[],
  { all = false, ...options }: FilterOptions & { readonly all?: boolean },
): Promise<readonly string[] | MatchingRuns> {
  const filter = defined(await toFilters(client, options));
  const isFiltered = Object.keys(filter).length > 0;
  if ([ids.length > 0, isFiltered, all].filter(Boolean).length > 1) {
    throw new Problem("Give run ids, filters or --all, not several of them.");
  }
  if (ids.length > 0) return ids;
  if (all) return { all: true };
  if (!isFiltered) throw new Problem("Give run ids, at least one filter such as --state SUCCEEDED, or --all.");
  return { filter };
}

interface Results {
  readonly changed: readonly string[];
  readonly refused: readonly { readonly run_id: string; readonly error_code: string }[];
}

async function eachRun(ids: readonly string[], change: (id: string) => PromiseLike<unknown>): Promise<Results> {
  for (const id of ids) await change(id);
  return { changed: ids, refused: [] };
}

/** Sends a request for all runs that match: again and again, as long as there are more. */
async function allPages<Name extends string>(
  selection: MatchingRuns,
  send: (
    body: MatchingRunsRequest,
  ) => PromiseLike<Record<Name, string[]> & Pick<DeleteRunsResponse, "refused" | "page_info">>,
  name: Name,
): Promise<Results> {
  const changed: string[] = [];
  const refused: Results["refused"][number][] = [];
  for (let cursor: string | undefined; ; ) {
    const response = await send(cursor === undefined ? selection : { ...selection, cursor });
    changed.push(...response[name]);
    refused.push(...response.refused);
    cursor = response.page_info.next_cursor;
    if (cursor === undefined) return { changed, refused };
  }
}

function report(context: Context, name: string, { changed, refused }: Results): void {
  for (const { run_id, error_code } of refused) context.note(`${run_id}: ${error_code}`);
  context.show({ [name]: changed, ...(refused.length === 0 ? {} : { refused }) }, () =>
    context.say(`${name}: ${changed.length}`),
  );
  if (refused.length > 0) context.exitCode = EXIT.failed;
}

/** Asks a person, with the number of the runs that match. */
async function confirmDeletion({ shell }: Context, client: Runyard, { filter }: MatchingRuns): Promise<void> {
  let count = 0;
  for await (const _ of client.runs.list({ ...filter, archived: "all", limit: 100 })) count++;
  if (count === 0) return;
  if (!shell.canAsk) throw usage(`${count} runs match.`, "Delete them with --yes.");
  const response = await shell.ask(`Delete ${count} runs? [y/N] `);
  if (response?.trim().toLowerCase() !== "y") throw new Problem("Nothing was deleted.");
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
