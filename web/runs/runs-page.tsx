import "../styles/runs.css";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useMemo, useState } from "react";
import { readMe, useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { part } from "../ui/part.tsx";
import { ErrorNotice, LoadingRows } from "../ui/status.tsx";
import { FilterChips, MoreFilters, SavedViews, SearchBox, Views } from "./run-filters.tsx";
import { RunList } from "./run-list.tsx";
import { type RunSearch, toListParams } from "./run-search.ts";
import { readRuns, useRuns } from "./use-runs.ts";

const route = getRouteApi("/shell/runs");
const NoRuns = part(async () => (await import("./no-runs.tsx")).NoRuns);
const BulkBar = part(async () => (await import("./bulk/bulk-bar.tsx")).BulkBar);

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
        <Suspense>
          {!isPending && error === null && runs.length === 0 && <NoRuns search={search} onChange={change} />}
        </Suspense>
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
