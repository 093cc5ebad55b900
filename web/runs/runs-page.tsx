import "../styles/runs.css";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Inbox, Plus, SearchX } from "lucide-react";
import { lazy, Suspense, useCallback, useMemo, useState } from "react";
import { readMe, useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { Empty, ErrorNotice, LoadingRows } from "../ui/status.tsx";
import { FilterChips, MoreFilters, SavedViews, SearchBox, Views } from "./run-filters.tsx";
import { RunList } from "./run-list.tsx";
import { type FilterProps, isFiltered, NO_FILTERS, type RunSearch, toListParams } from "./run-search.ts";
import { readRuns, useRuns } from "./use-runs.ts";

const route = getRouteApi("/shell/runs");
const BulkBar = lazy(async () => ({ default: (await import("./bulk/bulk-bar.tsx")).BulkBar }));

/** Reads what the page shows first. */
export const readRunsPage = (search: RunSearch): Promise<void> => readRuns(toListParams(search, readMe().uid));

export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const me = useMe();
  const params = useMemo(() => toListParams(search, me.uid), [search, me.uid]);
  const { runs, error, isPending, hasNextPage, readMore, moreError, refetch } = useRuns(params);
  const { selection, setSelection, select } = useSelection();
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
        <Button
          aria-pressed={selection !== undefined}
          onClick={() => setSelection(selection === undefined ? new Set() : undefined)}
        >
          Select
        </Button>
      </div>
      <SavedViews search={search} onChange={change} />
      <FilterChips search={search} onChange={change} />
      {selection !== undefined && (
        <Suspense fallback={<div className="bulk-bar" />}>
          <BulkBar
            params={params}
            runs={runs}
            hasMore={hasNextPage}
            selection={selection}
            onSelection={setSelection}
            onChanged={() => void refetch()}
          />
        </Suspense>
      )}
      <section className="card" aria-label="List of runs" aria-busy={isPending}>
        {isPending && <LoadingRows rows={10} height={62} />}
        {error !== null && runs.length === 0 && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {!isPending && error === null && runs.length === 0 && <NoRuns search={search} onChange={change} />}
        {runs.length > 0 && (
          <RunList
            runs={runs}
            isFolded={selection === undefined && search.schedule === undefined && search.q === undefined}
            selection={selection}
            onSelect={select}
            hasMore={hasNextPage}
            isStopped={moreError !== undefined}
            onMore={more}
          />
        )}
        {moreError !== undefined && <ErrorNotice error={moreError} onRetry={more} />}
      </section>
    </Page>
  );
}

/** The runs that are selected, while runs are being selected. */
function useSelection() {
  const [selection, setSelection] = useState<ReadonlySet<string>>();
  const select = useCallback(
    (runIds: readonly string[], isSelected: boolean) =>
      setSelection((last = new Set()) =>
        isSelected ? new Set([...last, ...runIds]) : new Set([...last].filter((one) => !runIds.includes(one))),
      ),
    [],
  );
  return { selection, setSelection, select };
}

function NoRuns({ search, onChange }: FilterProps) {
  if (!isFiltered(search)) {
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
  return (
    <Empty icon={<SearchX size={32} aria-hidden />} title="No matching runs">
      <p>No run matches the search and the filters.</p>
      <button type="button" className="button button-plain" onClick={() => onChange(NO_FILTERS)}>
        Show all runs
      </button>
    </Empty>
  );
}
