import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ListRunsResponse, RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { byCursor } from "../api/pages.ts";
import { costOf } from "../runs/cost-of.ts";
import { titleOf } from "../runs/title-of.ts";
import { Button } from "../ui/button.tsx";
import { formatUsd, plural } from "../ui/format.ts";
import { StateIcon } from "../ui/run-state.tsx";
import { Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { toDay } from "./figures.ts";

/** The API does not sort by cost, so runs are read page by page, more of them on request. */
const PAGE_SIZE = 200;
const MAX_SHOWN = 10;

/** The costliest of the latest runs of a period. */
export function CostliestRuns({ days }: { readonly days: number }) {
  const query = useInfiniteQuery({
    queryKey: ["costliest-runs", days],
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    queryFn: async ({ pageParam, signal }): Promise<ListRunsResponse> => {
      const period = { created_after: `${toDay(days - 1)}T00:00:00.000Z`, archived: "all" } as const;
      const cursor = pageParam === undefined ? {} : { cursor: pageParam };
      return (await client.runs.list({ ...period, sort_by: "created_at", limit: PAGE_SIZE, ...cursor }, { signal }))
        .body;
    },
    ...byCursor,
  });
  return (
    <section className="card" aria-label="Costliest runs">
      <div className="card-head">
        <h2>Costliest runs</h2>
      </div>
      <Loaded query={query} rows={3}>
        {({ pages }) => {
          const runs = pages.flatMap((page) => page.runs);
          const costly = runs.filter((run) => costOf(run) > 0).sort((a, b) => costOf(b) - costOf(a));
          return (
            <>
              {costly.length === 0 && <p className="card-body faint">No run of this period has a cost.</p>}
              <ul className="item-list">
                {costly.slice(0, MAX_SHOWN).map((run) => (
                  <CostlyRun key={run.run_id} run={run} />
                ))}
              </ul>
              {query.hasNextPage && (
                <div className="row load-more">
                  <span className="faint">Among the latest {plural(runs.length, "run")}.</span>
                  <Button small busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                    Look at {PAGE_SIZE} more
                  </Button>
                </div>
              )}
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

const CostlyRun = ({ run }: { readonly run: RunItem }) => (
  <li className="item item-short costly">
    <StateIcon state={run.state} />
    <Link to="/runs/$runId" params={{ runId: run.run_id }} className="item-main item-title truncate">
      {titleOf(run)}
    </Link>
    <Time at={run.created_at} className="faint" />
    <strong className="number">{formatUsd(costOf(run))}</strong>
  </li>
);
