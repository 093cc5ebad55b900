import type { ListRunsResponse, RunItem } from "../../clients/typescript/src/index.ts";

/** The pages of the list that have been read. */
export interface RunPages {
  pages: ListRunsResponse[];
  pageParams: (string | undefined)[];
}

/** The runs of pages, each once, the newest first. */
export function toRuns(pages: Pick<RunPages, "pages"> | undefined): RunItem[] {
  const byId = new Map<string, RunItem>();
  for (const page of pages?.pages ?? []) for (const run of page.runs) byId.set(run.run_id, run);
  return [...byId.values()].sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0));
}

/**
 * Replaces runs that changed, adds those that match since, and removes those that no longer do. Runs that are older than all of the
 * pages come with the next page, if there is one.
 */
export function mergeChanges(
  pages: RunPages,
  changed: readonly RunItem[],
  states: readonly string[] | undefined,
): RunPages {
  const matches = (run: RunItem) => states === undefined || states.includes(run.state);
  const byId = new Map(changed.map((run) => [run.run_id, run]));
  const runs = toRuns(pages);
  const known = new Set(runs.map((run) => run.run_id));
  const oldest = pages.pages.at(-1)?.page_info.has_next_page ? (runs.at(-1)?.created_at ?? "") : "";
  const added = changed.filter((run) => !known.has(run.run_id) && matches(run) && run.created_at >= oldest);
  const isSame = (run: RunItem) => (byId.get(run.run_id)?.updated_at ?? run.updated_at) === run.updated_at;
  if (added.length === 0 && runs.every(isSame)) return pages;
  const updated = pages.pages.map((page, index) => ({
    ...page,
    runs: [...(index === 0 ? added : []), ...page.runs.map((run) => byId.get(run.run_id) ?? run).filter(matches)],
  }));
  return { ...pages, pages: updated };
}
