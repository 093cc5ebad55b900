import { invalid, RunyardError } from "#shared/errors.ts";
import { fitting } from "#shared/lists/page.ts";
import { ownersVisibleTo, type Principal, principalKey } from "#shared/principals/principal.ts";
import { SCOPE_SHARDS, scopeKey } from "#shared/table/keys.ts";
import type { ListRunsResponse, RunItem } from "#shared/wire/run.ts";
import type { Cursors } from "./cursor.ts";
import { type Filters, type FoundRun, isFiltered, matchesEntry, matchingRuns, runIdOf } from "./list-filters.ts";
import { nextEntries, type Order, positionOf } from "./list-sources.ts";
import type { RunPorts } from "./ports.ts";
import { refuseUnknownAncestor } from "./read-run.ts";
import { toRunItem } from "./run-item.ts";

export interface ListQuery extends Order {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly filters: Filters;
}

/** Milliseconds of reading after which a page is answered as far as it got. */
const READ_MS = 20_000;
const LIST_PROMPT_LENGTH = 1_000;
/** Entries read at once where a filter may drop many of them, at first and at most. */
const FILTERED_ENTRIES = 100;
const FILTERED_ENTRIES_MOST = 1_600;

/** One page of the runs that the principal sees. Its scopes are read as sorted streams and merged. */
export async function listRuns(
  query: ListQuery,
  principal: Principal,
  ports: RunPorts & { readonly cursors: Cursors },
): Promise<ListRunsResponse> {
  if (principal.kind === "run") {
    throw new RunyardError("not_authorized", { detail: "a run's key reads its own run and its descendants by id" });
  }
  await refuseUnknownAncestor(query.filters.ancestorRunId, principal, ports);
  const scopes = ownersVisibleTo(principal).flatMap((owner) =>
    Array.from({ length: SCOPE_SHARDS }, (_, shard) => scopeKey(owner, shard)),
  );
  const binding = [principalKey(principal), scopes, query.sortBy, query.descending, query.filters];
  const start = query.cursor === undefined ? undefined : await ports.cursors.read(binding, query.cursor);
  const { matches, more, last } = await collect(scopes, query, start, ports);
  const page = matches.slice(0, query.limit);
  if (page.length === 0 && more) {
    throw invalid("created_after", "no match within the time of one answer; narrow the query by created_after");
  }
  const runs = fitting(await Promise.all(page.map(({ run }) => shown(run, ports))));
  const isCut = runs.length < matches.length;
  const next = isCut ? page[runs.length - 1]?.position : more ? last : undefined;
  return {
    runs,
    page_info: {
      has_next_page: next !== undefined,
      ...(next === undefined ? {} : { next_cursor: await ports.cursors.write(binding, next) }),
    },
  };
}

interface Match {
  readonly position: string;
  readonly run: FoundRun;
}

/** Reads until the page has one match more than it holds, which tells of a next page; `more`: time ran out before. */
async function collect(
  scopes: readonly string[],
  query: ListQuery,
  start: string | undefined,
  ports: RunPorts,
): Promise<{ matches: readonly Match[]; more: boolean; last: string | undefined }> {
  const deadline = ports.now() + READ_MS;
  const matches: Match[] = [];
  const seen = new Set<string>();
  let last = start;
  let more = true;
  let amount = FILTERED_ENTRIES;
  while (matches.length <= query.limit && more && ports.now() <= deadline) {
    const wanted = isFiltered(query.filters) ? amount : query.limit + 1 - matches.length;
    const { entries, rest } = await nextEntries(scopes, query, query.filters, last, wanted, ports);
    const candidates = entries.filter((entry) => matchesEntry(entry, query.filters) && !seen.has(runIdOf(entry)));
    const runs = await manyRuns(candidates.map(runIdOf), ports);
    // An index lags behind the runs: one that has two entries for a moment is shown once, as it stands now.
    const matching = new Map(matchingRuns(runs, query.filters).map((run) => [run.head.run_id, run]));
    for (const entry of candidates) {
      const run = matching.get(runIdOf(entry));
      if (run === undefined || seen.has(run.head.run_id)) continue;
      seen.add(run.head.run_id);
      matches.push({ position: positionOf(entry, query), run });
    }
    const end = entries.at(-1);
    if (end !== undefined) last = positionOf(end, query);
    more = rest && end !== undefined;
    amount = Math.min(amount * 2, FILTERED_ENTRIES_MOST);
  }
  return { matches, more, last };
}

async function manyRuns(ids: readonly string[], ports: RunPorts): Promise<readonly FoundRun[]> {
  const parts = Array.from({ length: Math.ceil(ids.length / 50) }, (_, part) => ids.slice(part * 50, part * 50 + 50));
  const found = await Promise.all(parts.map((part) => ports.runs.many(part)));
  return found.flat().filter((run) => run !== undefined);
}

async function shown({ head, body }: FoundRun, ports: RunPorts): Promise<RunItem> {
  const artifacts = head.artifacts > 0 ? await ports.runs.artifacts(head.run_id) : [];
  const item = toRunItem(head, body, artifacts, { webUrl: ports.webUrl, now: ports.now() });
  return { ...item, prompt: [...item.prompt.slice(0, 2 * LIST_PROMPT_LENGTH)].slice(0, LIST_PROMPT_LENGTH).join("") };
}
