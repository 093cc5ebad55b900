import "../styles/runs.css";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Inbox, Plus, SearchX } from "lucide-react";
import { useCallback, useMemo } from "react";
import { readMe, useMe } from "../api/session.ts";
import { Page } from "../ui/page.tsx";
import { Empty, ErrorNotice, LoadingRows } from "../ui/status.tsx";
import { FilterChips, MoreFilters, SearchBox, Views } from "./run-filters.tsx";
import { RunList } from "./run-list.tsx";
import { activeFilters, type RunSearch, toListParams } from "./run-search.ts";
import { readRuns, useRuns } from "./use-runs.ts";

const route = getRouteApi("/shell/runs");

/** Reads what the page shows first. */
export const readRunsPage = (search: RunSearch): Promise<void> => readRuns(toListParams(search, readMe().uid));

export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const me = useMe();
  const params = useMemo(() => toListParams(search, me.uid), [search, me.uid]);
  const { runs, error, isPending, hasNextPage, readMore, moreError, refetch } = useRuns(params);
  const change = useCallback(
    (changes: Partial<RunSearch>) => void navigate({ search: (last) => ({ ...last, ...changes }), replace: true }),
    [navigate],
  );
  const more = useCallback(() => void readMore(), [readMore]);
  return (
    <Page title="Runs">
      <div className="run-tools">
        <Views search={search} onChange={change} />
        <SearchBox search={search} onChange={change} />
        <MoreFilters search={search} onChange={change} />
      </div>
      <FilterChips search={search} onChange={change} />
      <section className="card" aria-label="List of runs" aria-busy={isPending}>
        {isPending && <LoadingRows rows={10} height={62} />}
        {error !== null && runs.length === 0 && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {!isPending && error === null && runs.length === 0 && <NoRuns search={search} onChange={change} />}
        {runs.length > 0 && (
          <RunList runs={runs} hasMore={hasNextPage} isStopped={moreError !== undefined} onMore={more} />
        )}
        {moreError !== undefined && <ErrorNotice error={moreError} onRetry={more} />}
      </section>
    </Page>
  );
}

function NoRuns({ search, onChange }: { readonly search: RunSearch; readonly onChange: (changes: RunSearch) => void }) {
  const isFiltered = search.q !== undefined || search.view !== undefined || activeFilters(search).length > 0;
  if (!isFiltered) {
    return (
      <Empty icon={<Inbox size={32} aria-hidden />} title="No runs yet">
        <p>A run is one task that an agent executes. Start one here, or by the API, the command line or a schedule.</p>
        <Link to="/runs/new" search={{}} className="button button-primary">
          <Plus size={16} aria-hidden />
          <span>New run</span>
        </Link>
      </Empty>
    );
  }
  const none: RunSearch = {
    view: undefined,
    q: undefined,
    state: undefined,
    source: undefined,
    creator: undefined,
    environment: undefined,
    skill: undefined,
    model: undefined,
    after: undefined,
    before: undefined,
  };
  return (
    <Empty icon={<SearchX size={32} aria-hidden />} title="No matching runs">
      <p>No run matches the search and the filters.</p>
      <button type="button" className="button button-plain" onClick={() => onChange(none)}>
        Show all runs
      </button>
    </Empty>
  );
}
