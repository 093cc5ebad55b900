import { type InfiniteData, infiniteQueryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ListRunsResponse, RunItem, RunsListParams } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { queryClient } from "../api/query-client.ts";

const PAGE_SIZE = 100;
const POLL_MS = 4000;
/**
 * The API compares milliseconds and leaves out equal times, so a poll requests changes from a time that it has already
 * read.
 */
const OVERLAP_MS = 1000;

type Pages = InfiniteData<ListRunsResponse, string | undefined>;

const runsQuery = (params: RunsListParams) =>
  infiniteQueryOptions({
    queryKey: ["runs", params],
    queryFn: async ({ pageParam, signal }): Promise<ListRunsResponse> => {
      const cursor = pageParam === undefined ? {} : { cursor: pageParam };
      return (await client.runs.list({ ...params, limit: PAGE_SIZE, ...cursor }, { signal })).body;
    },
    initialPageParam: initialCursor(),
    getNextPageParam: ({ page_info }) => (page_info.has_next_page ? page_info.next_cursor : undefined),
    staleTime: 30_000,
    refetchOnWindowFocus: false,
  });

/** The first page has no cursor. */
function initialCursor(): string | undefined {
  return undefined;
}

/** Reads the first runs that match, for the first render. */
export const readRuns = (params: RunsListParams): Promise<void> => queryClient.prefetchInfiniteQuery(runsQuery(params));

/** The runs that match, page by page, and kept up to date by requesting what changed since. */
export function useRuns(params: RunsListParams) {
  const query = useInfiniteQuery(runsQuery(params));
  const pages = query.data;
  const runs = useMemo(() => uniqueRuns(pages), [pages]);
  useQuery({
    queryKey: ["runs-changed", params],
    enabled: pages !== undefined,
    refetchInterval: POLL_MS,
    gcTime: 0,
    // What has just been read has no changes yet.
    initialData: null,
    initialDataUpdatedAt: query.dataUpdatedAt,
    staleTime: POLL_MS,
    queryFn: async ({ signal }) => {
      const { state: states, ...others } = params;
      const since = latestUpdate(runs);
      // The state is filtered here, because runs that leave the filter are changes too.
      const updated = since === undefined ? {} : { updated_after: new Date(since - OVERLAP_MS).toISOString() };
      const query = { ...others, ...updated, limit: PAGE_SIZE };
      const { body } = await client.runs.list(query, { signal });
      mergeChanges(params, body.runs, states);
      return null;
    },
  });
  return { ...query, runs };
}

function uniqueRuns(pages: Pick<Pages, "pages"> | undefined): RunItem[] {
  const byId = new Map<string, RunItem>();
  for (const page of pages?.pages ?? []) for (const run of page.runs) byId.set(run.run_id, run);
  return [...byId.values()];
}

const latestUpdate = (runs: readonly RunItem[]): number | undefined =>
  runs.length === 0 ? undefined : Math.max(...runs.slice(0, 1000).map((run) => Date.parse(run.updated_at)));

/** Replaces runs that changed, adds new ones to the first page, and removes those that no longer match. */
function mergeChanges(
  params: RunsListParams,
  changed: readonly RunItem[],
  states: readonly string[] | undefined,
): void {
  const { queryKey } = runsQuery(params);
  queryClient.setQueryData<Pages>(queryKey, (pages) => {
    if (pages === undefined) return pages;
    const matches = (run: RunItem) => states === undefined || states.includes(run.state);
    const byId = new Map(changed.map((run) => [run.run_id, run]));
    const known = new Set(pages.pages.flatMap((page) => page.runs.map((run) => run.run_id)));
    const isNewest = (run: RunItem) => run.created_at >= (pages.pages[0]?.runs[0]?.created_at ?? "");
    const added = changed.filter((run) => !known.has(run.run_id) && matches(run) && isNewest(run));
    const isSame = (run: RunItem) => (byId.get(run.run_id)?.updated_at ?? run.updated_at) === run.updated_at;
    if (added.length === 0 && pages.pages.every((page) => page.runs.every(isSame))) return pages;
    const updated = pages.pages.map((page, index) => ({
      ...page,
      runs: [
        ...(index === 0 ? added.toSorted((a, b) => b.created_at.localeCompare(a.created_at)) : []),
        ...page.runs.map((run) => byId.get(run.run_id) ?? run).filter(matches),
      ],
    }));
    return { ...pages, pages: updated };
  });
}
