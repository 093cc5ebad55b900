import { infiniteQueryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { ListRunsResponse, RunItem, RunsListParams } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { byCursor } from "../api/pages.ts";
import { queryClient } from "../api/query-client.ts";
import { mergeChanges, type RunPages, toRuns } from "./run-pages.ts";

const PAGE_SIZE = 100;
const POLL_MS = 4000;
/**
 * The API compares milliseconds and leaves out equal times, so a poll requests changes from a time that it has already
 * read.
 */
const OVERLAP_MS = 1000;

const runsQuery = (params: RunsListParams) =>
  infiniteQueryOptions({
    queryKey: ["runs", params],
    queryFn: async ({ pageParam, signal }): Promise<ListRunsResponse> => {
      const cursor = pageParam === undefined ? {} : { cursor: pageParam };
      return (await client.runs.list({ ...params, limit: PAGE_SIZE, ...cursor }, { signal })).body;
    },
    ...byCursor,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
  });

/** Reads the first runs that match, for the first render. */
export const readRuns = (params: RunsListParams): Promise<void> => queryClient.prefetchInfiniteQuery(runsQuery(params));

/** The runs that match, page by page, and kept up to date by requesting what changed since. */
export function useRuns(params: RunsListParams) {
  const query = useInfiniteQuery(runsQuery(params));
  const pages = query.data;
  const runs = useMemo(() => toRuns(pages), [pages]);
  useQuery({
    queryKey: toChangesKey(params),
    enabled: pages !== undefined,
    refetchInterval: POLL_MS,
    gcTime: 0,
    // What has just been read has no changes yet.
    initialData: nothingChanged,
    initialDataUpdatedAt: query.dataUpdatedAt,
    staleTime: POLL_MS,
    queryFn: ({ signal }) => readChanges(params, pages?.pages[0], signal),
  });
  const { fetchNextPage, isFetchingNextPage } = query;
  // The query forgets the error as soon as changes are merged.
  const [failure, setFailure] = useState<{ readonly params: RunsListParams; readonly error: unknown }>();
  const readMore = useCallback(async () => {
    if (isFetchingNextPage) return;
    setFailure(undefined);
    const { isFetchNextPageError, error } = await fetchNextPage();
    if (isFetchNextPageError) setFailure({ params, error });
  }, [params, isFetchingNextPage, fetchNextPage]);
  return { ...query, runs, readMore, moreError: failure?.params === params ? failure.error : undefined };
}

const toChangesKey = (params: RunsListParams) => ["runs-changed", params] as const;
const nothingChanged = (): number | null => null;

/** Reads what changed since the last time, or since the first page was read. Returns the time after which changes are not known. */
async function readChanges(
  params: RunsListParams,
  first: ListRunsResponse | undefined,
  signal: AbortSignal,
): Promise<number | null> {
  const last = queryClient.getQueryData<number | null>(toChangesKey(params));
  const after = last ?? latestUpdate(first?.runs ?? [], OVERLAP_MS);
  const { state: states, ...others } = params;
  // The state is filtered here, because runs that leave the filter are changes too.
  const updated = after === null ? {} : { updated_after: new Date(after).toISOString() };
  const { body } = await client.runs.list({ ...others, ...updated, limit: PAGE_SIZE }, { signal });
  const { queryKey } = runsQuery(params);
  // A page that is being read is added to the pages as they were when it was requested, so changes are read again after it.
  if (queryClient.getQueryState(queryKey)?.fetchStatus === "fetching") return after;
  if (body.page_info.has_next_page) {
    // More has changed than a response has room for. Without the overlap, so that the same changes do not fill the next one.
    await queryClient.invalidateQueries({ queryKey, exact: true }, { throwOnError: true });
    return latestUpdate(body.runs, 1) ?? after;
  }
  queryClient.setQueryData<RunPages>(queryKey, (pages) => pages && mergeChanges(pages, body.runs, states));
  return latestUpdate(body.runs, OVERLAP_MS) ?? after;
}

/** A time before the latest change of runs. */
const latestUpdate = (runs: readonly RunItem[], before: number): number | null =>
  runs.length === 0 ? null : Math.max(...runs.map((run) => Date.parse(run.updated_at))) - before;
