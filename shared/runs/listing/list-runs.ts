import { takeCharacters } from "#shared/characters.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { fitting } from "#shared/pagination/page.ts";
import { listVisibleOwners, type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { type RunUsage, readUsage } from "#shared/records/budget-account.ts";
import { refuseUnknownAncestor } from "#shared/runs/read-run.ts";
import { toRunItem, toViewSettings } from "#shared/runs/run-item.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { readSubmittedPrompt } from "#shared/runs/submitted-prompt.ts";
import type { ListRunsResponse, RunItem } from "#shared/wire/run.ts";
import type { Filters, FoundRun } from "./filters.ts";
import { type Candidate, createMatcher, loadRuns } from "./matches.ts";
import type { Order } from "./order.ts";
import { toScopes } from "./run-index-store.ts";
import { search } from "./search.ts";
import { chooseSources, toRange } from "./sources.ts";
import { withActiveAncestors } from "./task-status.ts";

export interface ListQuery extends Order {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly filters: Filters;
}

/** Milliseconds of reading after which the page is returned as far as it was read. */
const READ_MS = 20_000;
const LIST_PROMPT_LENGTH = 1_000;

/** Lists one page of the runs visible to the principal. Its scopes are read as sorted streams and merged. */
export async function listVisibleRuns(
  query: ListQuery,
  principal: Principal,
  ports: RunPorts & { readonly cursors: Cursors },
): Promise<ListRunsResponse> {
  if (principal.kind === "run") {
    throw new RunyardError("not_authorized", { detail: "a run's key reads its own run and its descendants by id" });
  }
  await refuseUnknownAncestor(query.filters.ancestorRunId, principal, ports);
  const scopes = toScopes(listVisibleOwners(principal));
  const binding = [toPrincipalKey(principal), scopes, query.sortBy, query.descending, query.filters];
  const start = query.cursor === undefined ? undefined : await ports.cursors.read(binding, query.cursor);
  const filters = await withActiveAncestors(query.filters, scopes, ports);
  const { runs, next } = await readPage(scopes, { ...query, filters }, start, ports);
  return {
    runs,
    page_info: {
      has_next_page: next !== undefined,
      ...(next === undefined ? {} : { next_cursor: await ports.cursors.write(binding, next) }),
    },
  };
}

interface Page {
  readonly runs: RunItem[];
  /** The position after which the next page begins. */
  readonly next: string | undefined;
}

async function readPage(
  scopes: readonly string[],
  query: ListQuery,
  start: string | undefined,
  ports: RunPorts,
): Promise<Page> {
  const { limit, filters, ...order } = query;
  const deadline = ports.now() + READ_MS;
  const isLate = () => ports.now() > deadline;
  const { sources, open } = await chooseSources(scopes, order, filters, ports);
  for (let after = start; ; ) {
    // One more than the page holds shows that there is a next page.
    const count = limit + 1;
    const match = createMatcher({ scopes, order, filters: open, wanted: count }, ports);
    const { found, stoppedAt } = await search({
      sources,
      order,
      range: toRange(order, filters, after),
      wanted: count,
      match,
      isLate,
    });
    const page = found.slice(0, limit);
    const rest = found.length > limit ? page.at(-1)?.position : stoppedAt;
    const { runs, next } = await toPage(await loadRuns(page, scopes, filters, ports), rest, ports);
    if (runs.length > 0 || next === undefined) return { runs, next };
    if (isLate()) {
      throw invalid(
        "created_after",
        "no match within the time limit of a request: narrow the query with a later created_after",
      );
    }
    // The runs of these entries do not exist any more.
    after = next;
  }
}

/** As many of the runs as fit into one response. */
async function toPage(
  found: readonly (Candidate & FoundRun)[],
  rest: string | undefined,
  ports: RunPorts,
): Promise<Page> {
  const used = await readUsage(
    found.map(({ head }) => head),
    ports.table,
  );
  const runs = fitting(await Promise.all(found.map((run, index) => toListedRun(run, used[index], ports))));
  return { runs, next: runs.length < found.length ? found[runs.length - 1]?.position : rest };
}

async function toListedRun({ head, body }: FoundRun, used: RunUsage | undefined, ports: RunPorts): Promise<RunItem> {
  const artifacts = head.artifacts > 0 ? await ports.runs.artifacts(head.run_id) : [];
  const submitted =
    head.early_followups === undefined
      ? body.prompt
      : await readSubmittedPrompt(head, body.prompt, ports, LIST_PROMPT_LENGTH);
  const item = toRunItem(head, body, artifacts, { ...toViewSettings(ports), used });
  return {
    ...item,
    prompt: takeCharacters(item.prompt, LIST_PROMPT_LENGTH),
    submitted_prompt: takeCharacters(submitted, LIST_PROMPT_LENGTH),
  };
}
