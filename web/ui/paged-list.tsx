import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { InlineError, Loaded } from "./status.tsx";

interface PagedListProps<P> {
  readonly query: {
    readonly data: { readonly pages: readonly P[] } | undefined;
    readonly isPending: boolean;
    readonly error: unknown;
    readonly refetch: () => unknown;
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  /** The number of placeholders while the first page is loading. */
  readonly rows: number;
  /** What is shown if there are no items. */
  readonly empty: ReactNode;
  /** The items of a page. */
  readonly children: (page: P) => readonly ReactNode[];
}

/** The items of the pages that are loaded, with a button for the next page. */
export function PagedList<P>({ query, rows, empty, children }: PagedListProps<P>) {
  return (
    <>
      <Loaded query={query} rows={rows}>
        {({ pages }) => {
          const items = pages.flatMap(children);
          return items.length === 0 && !query.hasNextPage ? empty : <ul className="item-list">{items}</ul>;
        }}
      </Loaded>
      {query.data !== undefined && <InlineError error={query.error} />}
      {query.hasNextPage && (
        <div className="row load-more">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}
